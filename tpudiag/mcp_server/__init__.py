"""The verbs for agents and editors, over the Model Context Protocol (extra `mcp`)."""
