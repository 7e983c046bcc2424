"""Redirects a rehearsed job's writes and blocks its sends; reads pass.

Standard library only. Files in buckets, and local ones where no file system does it, are redirected
into a folder (`layer`; `points/files.py` lists what each call does, `file_calls` and
`tensorflow_files` hook them); requests, mail, tracker runs and programs that send get a fake
success (`requests`, `calls`, `trackers`, `programs`); each is noted once (`ledger`), and failures
caused by this are attributed to the rehearsal (`refusals`).
"""
