"""The throughput of running jobs: recorded, watched, sent to Cloud Monitoring, alerted on."""
