"""Isolates a rehearsed job by means of the system, not of Python.

`launch` describes what to run and how; `launcher`, a process between the tool and the job, rebuilds
the file system with a layer over everything writable (`layers`), or makes all but one folder
read-only (`landlock`), starts the job in it (`first_process`), and ends all processes of the job
when the job or the tool ends (`keeper`). `held` lists what was written. Standard library only,
Linux only.
"""
