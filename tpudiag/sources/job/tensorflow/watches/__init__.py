"""Watches of the running job: traces, steps, variables, Keras, checkpoints.

`watch_order` installs these hooks in their order; `job_facts` reads their facts.
"""
