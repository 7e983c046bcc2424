"""The observed process, whatever it trains with: how it is started, bounded and spoken to."""
