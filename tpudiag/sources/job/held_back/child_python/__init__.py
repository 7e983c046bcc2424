"""Found first by the Pythons that a job starts: `sitecustomize` there holds back what they send."""
