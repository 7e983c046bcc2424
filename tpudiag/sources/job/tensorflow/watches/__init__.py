"""What is watched while the job runs: traces, steps, variables, Keras, checkpoints.

`watch_order` puts these hooks on, in their order; facts are read by `job_facts`.
"""
