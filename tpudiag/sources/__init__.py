"""Where signals come from: each source fills some Signals and knows no check."""
