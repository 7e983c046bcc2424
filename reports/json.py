"""The report as JSON, for programs; report-v1.schema.json beside it says what it holds."""

from tpudiag import report_json
from tpudiag.model import Report


def render(report: Report) -> str:
    """The report as JSON."""
    return report_json.dumps(report)
