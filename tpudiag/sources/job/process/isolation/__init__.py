"""What keeps a rehearsed job from harming anything: the system's own means, none of Python's.

`launch` says what is to be run and how; `launcher`, a process between the tool and the job, puts
the file system together once more with a layer over all that can be written (`layers`), or walls
off all but one folder (`landlock`), starts the job in it (`first_process`), and ends everything
that the job started when the job ends, or the tool (`keeper`). `held` tells what was written.
Standard library alone, Linux alone.
"""
