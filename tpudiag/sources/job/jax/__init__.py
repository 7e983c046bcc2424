"""JAX in the job's own process: plain JAX, and Keras 3 on it.

Of the same shape as `tensorflow`, and smaller, since nothing needs a stand-in but the number of
devices: `devices` makes the CPU look like the slice, `jitted` is a function that jax.jit
made, `signatures` says which argument made one compile again, `fetches` sees what the host waits
for, `step` reads the traced step, `lowering` writes it for the TPU compiler, `observer` puts them
together. Standard library and the user's JAX alone, from 0.4.30 on. Started by `process/child.py`,
used by nothing else.
"""
