"""The reference TPUStrategy training jobs."""
