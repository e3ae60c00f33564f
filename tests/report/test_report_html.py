"""The page that stands alone: whole, escaped, and readable without sight, script or net."""

import dataclasses
import itertools
import re
import xml.etree.ElementTree as ET

import pytest
from page_reader import read

from leadline.report.html_page import html_page
from leadline.report.interval_plot import Mark, interval_plot


def test_the_page_is_whole_and_says_everything(one):
    reader = read(html_page(one, "evaluate"))
    text = " ".join(text for _, text in reader.text)
    for told in (
        "Retrieval scores of bm25", "nDCG(gain=exp2)@10", "[-0.1000, 0.6000]", "0.9300", "only 4 queries",
        "judged@10 0.83", "leadline-1", "ab" * 32, "qrels.txt", "Student's t",
    ):  # fmt: skip
        assert told in text
    assert "verdict:" not in text.lower()


def test_the_page_loads_nothing_and_runs_nothing(two):
    page = html_page(two)
    reader = read(page)
    tags = {tag for tag, _ in reader.elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "form", "a"}
    assert not re.search(r"url\(|@import|https?://|\bon\w+=", page)
    assert "default-src 'none'" in page


def test_the_page_is_accessible(two):
    reader = read(html_page(two))
    elements = reader.elements
    assert ("html", {"lang": "en"}) in elements
    assert [tag for tag, _ in elements].count("h1") == 1
    levels = [int(tag[1]) for tag, _ in elements if re.fullmatch(r"h\d", tag)]
    assert all(later - earlier <= 1 for earlier, later in itertools.pairwise(levels))
    assert {attrs.get("scope") for tag, attrs in elements if tag == "th"} == {"col", "row"}
    ids = [attrs["id"] for _, attrs in elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    plots = [attrs for tag, attrs in elements if tag == "svg"]
    assert len(plots) == 2
    for plot in plots:
        assert plot["role"] == "img"
        assert set(plot["aria-labelledby"].split()) <= set(ids)


def test_the_page_follows_light_and_dark(one):
    assert "prefers-color-scheme: dark" in html_page(one)


HOSTILE = "<script>alert(1)</script>\"'&\x1b[31m</title>"


def test_everything_is_escaped(one, make):
    cell, summary = make
    scores = dataclasses.replace(
        one,
        cells=(cell(HOSTILE, "AP", [0.5]),),
        summaries=tuple(
            summary(
                HOSTILE + tail,
                HOSTILE,
                0.5,
                0.4,
                0.6,
                group=group,
                bound_low=0.0,
                bound_high=1.0,
                bound_kind=HOSTILE,
            )
            for group in (None, HOSTILE)
            for tail in ("", "2")
        ),
        account={"systems": {HOSTILE: {"rows": 3}}},
        conventions={"profile": HOSTILE},
        inputs=({"path": HOSTILE, "sha256": HOSTILE, "rows": HOSTILE},),
        warnings=(HOSTILE,),
        headings={HOSTILE: HOSTILE},
    )
    page = html_page(scores, HOSTILE)
    reader = read(page)
    assert "script" not in {tag for tag, _ in reader.elements}
    assert "\x1b" not in page
    assert [tag for tag, _ in reader.elements].count("title") == 2


@pytest.mark.parametrize("systems", [1, 2])
def test_measures_of_every_range_have_a_plot_and_counts_have_none(one, make, systems):
    _, summary = make
    names = [f"s{i}" for i in range(systems)]
    rows = [
        summary(name, measure, mean, low, high)
        for measure, mean, low, high in (
            ("AP", 0.5, 0.4, 0.6),
            ("RR", 0.5, None, None),
            ("DCG@10", 12.5, 11.0, 14.0),
        )
        for name in names
    ]
    rows += [summary(name, "NumRet", 100.0) for name in names] + [
        summary(name, "Bpref", None) for name in names
    ]
    page = html_page(dataclasses.replace(one, cells=(), summaries=tuple(rows), headings={}))
    captions = re.findall("<figcaption>(.*?)</figcaption>", page)
    assert captions == (["AP", "RR", "DCG@10"] if systems > 1 else ["All measures between 0 and 1", "DCG@10"])


def test_the_plot_puts_means_and_intervals_where_they_belong():
    # Of 760 pixels 190 are for labels and 190 for numbers: 0 lies at 190, 1 at 570, .5 at 380.
    svg = ET.fromstring(interval_plot([Mark("a", 0.5, 0.25, 0.75), Mark("b", 1.0)], "AP", "k"))
    dots = [(float(dot.get("cx")), int(dot.get("cy"))) for dot in svg.iter("circle")]
    assert dots == [(380.0, 15), (570.0, 41)]
    lines = [line for line in svg.iter("line") if line.get("class") == "mark"]
    assert [(line.get("x1"), line.get("x2")) for line in lines] == [
        ("285.0", "475.0"), ("285.0", "285.0"), ("475.0", "475.0"),
    ]  # fmt: skip
    assert svg.find("desc").text == "a: 0.5000 [0.2500, 0.7500]; b: 1.0000 no interval"


def test_long_labels_keep_both_ends():
    svg = ET.fromstring(interval_plot([Mark("dense-retriever-with-a-long-name-v2", 0.5)], "AP", "k"))
    assert "dense-retr…ng-name-v2" in [text.text for text in svg.iter("text")]


def test_an_interval_beyond_the_edge_has_no_cap_there():
    svg = ET.fromstring(interval_plot([Mark("a", 0.1, -0.2, 0.4)], "AP", "k"))
    lines = [(line.get("x1"), line.get("x2")) for line in svg.iter("line") if line.get("class") == "mark"]
    assert lines == [("190.0", "342.0"), ("342.0", "342.0")]


@pytest.mark.parametrize(
    "mark", [Mark("a", 12.5, 11.0, 14.0), Mark("a", -3.0), Mark("a", 1e-9 - 1), Mark("a", 2e6)]
)
def test_other_ranges_hold_their_marks(mark):
    svg = ET.fromstring(interval_plot([mark], "DCG", "k"))
    for dot in svg.iter("circle"):
        assert 190 <= float(dot.get("cx")) <= 570


def test_nothing_scored_is_a_page_all_the_same(one):
    reader = read(html_page(dataclasses.replace(one, cells=(), summaries=(), account={})))
    text = " ".join(text for _, text in reader.text)
    assert "Retrieval scores of nothing" in text
