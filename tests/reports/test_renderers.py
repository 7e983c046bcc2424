"""What holds for every report in every format."""

import json
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt

from tests import made
from tpudiag import report_json
from tpudiag.catalogue import renderer
from tpudiag.model import (
    Confidence,
    Evidence,
    Finding,
    Location,
    Outcome,
    Report,
    Severity,
    Subject,
    TargetSummary,
    Verdict,
    skipped_reason,
)
from tpudiag.report_figures import (
    Excerpt,
    Measurement,
    PlanRow,
    Series,
    StepSamples,
    Table,
    XProfLink,
)

FORMATS = ("html", "json", "junit", "markdown", "rich", "sarif", "text")
ESCAPES = re.compile(r"\x1b\[[\d;]*m")
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

words = st.text(st.characters(exclude_categories=[]), max_size=40)
values = st.integers() | st.floats() | words | st.booleans()
evidences = st.builds(Evidence, words, values, words | st.just("bytes"), st.none() | values, words)
found = st.builds(
    Finding,
    words,
    words,
    st.lists(evidences, max_size=3).map(tuple),
    st.none() | st.builds(Location, words, st.none() | st.integers(0)),
    severity=st.none() | st.sampled_from(Severity),
    cost_ms_per_step=st.none() | st.floats(),
    cost_bytes=st.none() | st.integers(),
    confidence=st.sampled_from(Confidence),
)


@st.composite
def outcomes(draw: st.DrawFn) -> Outcome:
    verdict = draw(st.sampled_from(Verdict))
    explained = verdict in (Verdict.SKIPPED, Verdict.BROKEN)
    cause = draw(words) if explained else None
    how = draw(st.none() | words) if verdict is Verdict.SKIPPED else None
    return made.outcome(
        draw(words.filter(bool)),
        verdict,
        *tuple(draw(st.lists(found, min_size=1, max_size=3))) if verdict is Verdict.FAILED else (),
        name=draw(words.filter(bool)),
        severity=draw(st.sampled_from(Severity)),
        reason=skipped_reason(cause, how),
        how_to_measure=how,
        evidence=tuple(draw(st.lists(evidences, min_size=1, max_size=2))),
    )


@st.composite
def tables(draw: st.DrawFn) -> Table:
    columns = tuple(draw(st.lists(words, max_size=6)))
    cells = st.tuples(*(values for _ in columns))
    return Table(draw(words), columns, tuple(draw(st.lists(cells, max_size=3))), draw(words))


numbers = st.lists(st.floats(), max_size=3).map(tuple)
kinds = st.sampled_from(["step_time", "step_part", "memory", "replica_step"])
limits = st.none() | st.floats()
series = st.builds(
    Series, kind=kinds, name=words, x_unit=words, unit=words, x=numbers, y=numbers,
    source=words, limit=limits,
)  # fmt: skip
samples = st.builds(StepSamples, words, words, numbers)
shares = st.none() | st.floats()
plan = st.builds(
    PlanRow, target=words, batch_per_replica=st.integers(1, 4096), fits=st.none() | st.booleans(),
    hbm_need_bytes=st.none() | st.integers(0), headroom=shares, step_ms=shares,
    examples_per_second_per_chip=shares, note=words,
)  # fmt: skip
excerpts = st.builds(Excerpt, words, st.integers(1, 10**6), st.lists(words, max_size=2).map(tuple))
reports = st.builds(
    Report,
    subject=st.builds(Subject, st.sampled_from(["job", "profile", "trainer"]), words),
    target=st.none() | st.builds(TargetSummary, words, st.integers(1, 4096)),
    started=st.just("2026-01-02T03:04:05.678+01:00"),
    outcomes=st.lists(outcomes(), max_size=4).map(tuple),
    measurements=st.dictionaries(words, st.builds(Measurement, values, words, words), max_size=2),
    tables=st.lists(tables(), max_size=2).map(tuple),
    headline=words,
    notes=st.lists(words, max_size=2).map(tuple),
    next_command=st.none() | words,
    partial=st.none() | words,
    series=st.lists(series, max_size=2).map(tuple),
    excerpts=st.lists(excerpts, max_size=2).map(tuple),
    samples=st.lists(samples, max_size=2).map(tuple),
    plan=st.lists(plan, max_size=2).map(tuple),
)
any_report = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.slow
@pytest.mark.parametrize("format_", FORMATS)
@any_report
@given(report=reports)
def test_any_report_renders_without_control_characters(format_: str, report: Report) -> None:
    text = renderer(format_)(report)
    assert not CONTROLS.search(ESCAPES.sub("", text) if format_ == "rich" else text)
    assert text.encode("utf-8").endswith(b"\n")


@any_report
@given(report=reports)
@pytest.mark.slow
def test_any_json_fits_the_schema_and_loads_as_itself(report: Report) -> None:
    schema = files("tpudiag.reports").joinpath("report-v1.schema.json").read_text(encoding="utf-8")
    text = renderer("json")(report)
    faults = Draft202012Validator(json.loads(schema)).iter_errors(json.loads(text))  # pyright: ignore
    assert [fault.message for fault in faults] == []
    with TemporaryDirectory() as folder:
        file = Path(folder) / "r.json"
        file.write_text(text, encoding="utf-8")
        assert renderer("json")(report_json.load(file)) == text


def test_no_color_takes_all_escape_codes_away(
    specimen: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    coloured = renderer("rich")(specimen)
    monkeypatch.setenv("NO_COLOR", "1")
    bare = renderer("rich")(specimen)
    assert "\x1b" in coloured
    assert "\x1b" not in bare
    assert ESCAPES.sub("", coloured) == bare


def test_colour_is_the_only_difference_from_plain_text(specimen: Report) -> None:
    coloured = ESCAPES.sub("", renderer("rich")(specimen))
    assert [row.rstrip() for row in coloured.splitlines()] == renderer("text")(
        specimen
    ).splitlines()


def test_rich_fits_the_terminal(
    specimens: dict[str, Report], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    rows = ESCAPES.sub("", renderer("rich")(specimens["all-skipped"])).splitlines()
    kept = [row for row in rows if not row.startswith("Open the profile")]
    assert max(map(len, kept)) <= 50


def test_words_of_the_report_keep_to_80_columns(specimens: dict[str, Report]) -> None:
    for name in ("healthy", "all-skipped", "each-severity", "broken", "profile"):
        rows = renderer("text")(specimens[name]).splitlines()
        long = [row for row in rows if len(row) > 80]
        assert all(row.startswith("Open the profile: ") for row in long)


def test_time_outranks_bytes_and_ids_break_ties(specimens: dict[str, Report]) -> None:
    def outcome(id_: str, ms: float | None, bytes_: int | None) -> Outcome:
        finding = Finding("m", "f", cost_ms_per_step=ms, cost_bytes=bytes_)
        return made.outcome(id_, Verdict.FAILED, finding, name="n")

    report = replace(
        specimens["empty"],
        outcomes=(
            outcome("TPU105", None, None),
            outcome("TPU104", None, None),
            outcome("TPU103", None, 2**40),
            outcome("TPU102", 0.5, None),
            outcome("TPU101", 1.5, None),
        ),
    )
    heads = re.findall(r"^error (\w+)", renderer("text")(report), re.MULTILINE)
    assert heads == ["TPU101", "TPU102", "TPU103", "TPU104", "TPU105"]


def test_every_outcome_is_named_in_every_format(specimens: dict[str, Report]) -> None:
    for name in ("each-severity", "broken", "all-skipped", "profile"):
        for format_ in FORMATS:
            whole = {"verbose": True} if format_ in ("rich", "text") else {}
            text = renderer(format_)(specimens[name], **whole)
            for outcome in specimens[name].outcomes:
                assert outcome.id in text
                assert outcome.name in text


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (16384, "examples", "16,384 examples"),
        (0.05, "", "0.05"),
        (38.12345, "%", "38.12 %"),
        (1234567.8, "ms", "1,234,568 ms"),
        (100.0, "%", "100 %"),
        (14.2 * 2**30, "bytes", "14.2 GiB"),
        (512, "bytes", "512 bytes"),
        (True, "", "yes"),
        (float("nan"), "ms", "nan ms"),
        (1e-9, "s", "1e-09 s"),
        (10**400, "flops", "1e+300 flops"),
    ],
)
def test_figures_read_well(
    specimens: dict[str, Report], value: float, unit: str, said: str
) -> None:
    report = replace(specimens["empty"], measurements={"figure": Measurement(value, unit, "job")})
    assert f"  figure  {said}  job" in renderer("text")(report).splitlines()


class TestMarkdown:
    """GitHub's tables and details, and nothing of the user's as markup."""

    parser = MarkdownIt("commonmark").enable("table")

    def test_hostile_text_stays_text(self, specimens: dict[str, Report]) -> None:
        html = self.parser.render(renderer("markdown")(specimens["hostile"]))
        tags = set(re.findall(r"<(/?[a-z][a-z0-9]*)", html))
        own = {"h2", "h3", "blockquote", "p", "strong", "ul", "li", "table", "thead", "tbody"}
        own |= {"tr", "th", "td", "code", "pre", "details", "summary", "br"}
        assert {tag.strip("/") for tag in tags} <= own
        assert "<strong>b</strong>" not in html
        assert "@someone" not in html.replace("@<!-- -->someone", "").split("<pre>")[0]
        assert len(re.findall("<tr>", html)) == len(re.findall("</tr>", html))

    def test_a_pipe_or_a_backtick_moves_no_cell(self, specimens: dict[str, Report]) -> None:
        odd = made.outcome(
            "TPU101",
            Verdict.PASSED,
            name="a|b`c``d",
            severity=Severity.INFO,
            evidence=(Evidence("x|y`", 1),),
        )
        html = self.parser.render(
            renderer("markdown")(replace(specimens["empty"], outcomes=(odd,)))
        )
        cells = re.findall("<td>(.*?)</td>", html)
        assert cells == ["<code>TPU101 a|b`c``d</code>", "x|y` 1 [job]"]

    @any_report
    @given(said=st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"])))
    def test_any_note_reads_as_it_was_written(self, said: str) -> None:
        report = made.report(subject=Subject("job", "j"), notes=(f"x {said}",))
        tokens = self.parser.parse(renderer("markdown")(report))
        notes = [t for t in tokens if t.type == "inline" and t.level == 3]
        shown = "".join(c.content for c in notes[0].children or () if c.type != "html_inline")
        assert shown == " ".join(f"x {said}".split())


def test_a_finding_is_linked_to_xprof_by_an_address_of_the_web_alone() -> None:
    def shown(link: str) -> dict[str, str]:
        finding = Finding("the step waits", "fix", xprof_link=link)
        outcome = made.outcome("TPU201", Verdict.FAILED, finding, severity=Severity.WARNING)
        report = made.report(
            outcome,
            subject=Subject("profile", "logs"),
            xprof_links=(XProfLink(name="slowest step", url=link),),
        )
        formats = {name: renderer(name)(report) for name in ("html", "markdown")}
        return {**formats, "text": renderer("text")(report, verbose=True)}

    good = "http://localhost:8791/?tool=op_profile&run=a%20b#profile"
    beside = "../../../?tool=op_profile#profile"
    for link in (good, beside):
        texts = shown(link)
        assert f"In XProf: {link}" in texts["text"]
        assert f"  slowest step: {link}" in texts["text"]
        assert f"In XProf: <{link}>" in texts["markdown"]
        assert f"- slowest step: <{link}>" in texts["markdown"]
        assert texts["html"].count(f'<a href="{link.replace("&", "&amp;")}" target="_blank"') == 2
    assert not [name for name, text in shown("javascript:alert(1)").items() if "alert" in text]


def test_what_no_profile_answers_is_one_group_behind_the_tables() -> None:
    rehearse = "rehearse the job: `tpudiag check train.py --for v5e-8`"
    outcomes = tuple(
        made.outcome(
            f"TPU10{number}",
            Verdict.SKIPPED,
            name="n",
            severity=Severity.WARNING,
            reason=f"reason {number}. To measure it: {how}.",
            how_to_measure=how,
        )
        for number, how in enumerate((rehearse, rehearse, "profile more steps", rehearse))
    )
    for kind in ("profile", "job"):
        report = made.report(
            *outcomes,
            subject=Subject(kind, "logs"),
            tables=(Table("Operations", ("op",), (("dot",),), "profile"),),
        )
        for text in (renderer("text")(report, verbose=True), renderer("markdown")(report)):
            of_profile = kind == "profile"
            assert text.count("rehearse the job") == (1 if of_profile else 3)
            assert ("No profile answers these 3." in text) is of_profile
            assert (text.index("Operations") < text.index("TPU100")) is of_profile
        html = renderer("html")(report)
        assert (html.index('<h2 id="table-1') < html.index("TPU100")) is (kind == "profile")
