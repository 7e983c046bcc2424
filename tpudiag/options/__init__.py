"""The options of every verb, each declared once.

Each key of a verb's TypedDict is an option: name and type are those of the library's keyword, its
`Option` holds the rest (`option.py`). The command line
(`commands/_parser.py`), the library's signatures, the arguments that agents see
(`mcp_server/tools.py`), the keys of the settings file, and the page `docs/options.md`
are made of them. Its users import it; it imports none of them.
"""
