"""A right that is missing is told by what it is, not widened to what is mostly missing."""

import pytest

from tpudiag.known_errors.model import Match
from tpudiag.known_errors.reader import in_text

SERVICE_USAGE = (
    "gcsfs.retry.HttpError: me@p.iam.gserviceaccount.com does not have serviceusage.services.use"
    " access to the Google Cloud project.",
    "google.api_core.exceptions.Forbidden: 403 Caller does not have required permission to use"
    " project p. Grant the caller a role with the serviceusage.services.use permission",
)


@pytest.mark.parametrize("text", SERVICE_USAGE)
def test_a_project_that_may_not_be_used_is_no_question_of_the_bucket(text: str) -> None:
    hit = in_text(text)[0]
    assert isinstance(hit, Match) and "No right on the bucket" in hit.message
    assert "serviceUsageConsumer" in hit.fix and "storage.objectAdmin" not in hit.fix


def test_a_permission_is_told_by_its_name_alone() -> None:
    text = "PermissionDenied: 403 Permission 'monitoring.timeSeries.create' denied on resource."
    hit = in_text(text)[0]
    assert isinstance(hit, Match) and not hit.undecided
    assert "`monitoring.timeSeries.create`" in hit.message


def test_a_token_without_the_scope_is_known_by_the_services_own_words() -> None:
    hit = in_text("HttpError: Insufficient Permission")[0]
    assert isinstance(hit, Match) and "scope" in hit.message
