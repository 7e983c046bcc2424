"""What a rehearsed job writes or sends elsewhere is held back, and reads work.

Standard library only. Files of buckets, and local ones where no file system does it, are redirected
into a folder (`layer`; `points/files.py` says what each call does, `file_calls` and
`tensorflow_files` hook them); requests, mail, runs of trackers and programs that send are answered
as done (`requests`, `calls`, `trackers`, `programs`); each is noted once (`ledger`), and what fails
by it alone is told as ours (`refusals`).
"""
