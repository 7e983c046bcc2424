"""The options of every verb, each declared once.

A key of a verb's class is an option: its name and type are those of the library's keyword, what
stands beside them is all else that is said of it (`option.py`). The command line
(`commands/_parser.py`), the library's signatures, the arguments that agents see
(`mcp_server/tools.py`), the keys of the settings file, and the page `docs/options.md`
are made of them. Whoever takes options may ask here; nothing here knows who does.
"""
