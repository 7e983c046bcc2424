"""Where hooks are put on libraries, the barrier around them, and the user's line behind a call.

Every other room uses this one; it uses none.
"""
