"""Cloud Monitoring: metrics of watched runs, alert policies as code."""
