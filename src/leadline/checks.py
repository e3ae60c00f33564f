"""What the rows of a table must be: ids that are text, numbers that are numbers, one grade for a pair."""

from collections.abc import Mapping, Sequence

import polars as pl

from leadline.errors import ROW, InputError, RowFault, RowsError, kept_rows, printable


def with_ids(frame: pl.DataFrame, columns: Sequence[str], source: str) -> pl.DataFrame:
    """The frame with its id columns as text; whole numbers become text here, once."""
    for name in columns:
        kind = frame.schema[name]
        if kind.is_integer() or kind in (pl.Categorical, pl.Enum) or kind == pl.Null:
            frame = frame.with_columns(pl.col(name).cast(pl.String))
        elif kind != pl.String:
            raise InputError(
                f"{printable(source)}: column {name} holds {kind} values; ids are text "
                "(a number with decimals may be an id that lost its form: read the column as text)"
            )
    unusable = [
        pl.col(name).is_null() | (pl.col(name) == "") | pl.col(name).str.contains("\0", literal=True)
        for name in columns
    ]
    if not frame.select(pl.any_horizontal(unusable).any()).item():
        return frame
    for name, bad in zip(columns, unusable, strict=True):
        wrong = frame.filter(bad)
        if wrong.height:
            expected = f"a {name} is text of at least one character, without NUL"
            raise RowsError(source, row_faults(wrong, name, expected), wrong.height)
    return frame


def with_numbers(frame: pl.DataFrame, name: str, source: str, finite: bool = False) -> pl.DataFrame:
    """The frame with a column of 64-bit numbers; no missing value, no NaN, and finite where asked."""
    kind = frame.schema[name]
    if not (kind.is_numeric() or kind == pl.Null):
        raise InputError(f"{printable(source)}: column {name} holds {kind} values, not numbers")
    frame = frame.with_columns(pl.col(name).cast(pl.Float64))
    bad = pl.col(name).is_null() | pl.col(name).is_nan()
    wrong = frame.filter(bad | pl.col(name).is_infinite() if finite else bad)
    if wrong.height:
        raise RowsError(
            source,
            row_faults(wrong, name, f"a {name} is a{' finite' if finite else ''} number"),
            wrong.height,
        )
    return frame


def with_design(frame: pl.DataFrame, source: str) -> pl.DataFrame:
    """The frame with its strata as text and its probabilities in (0, 1]; null where they are blank.

    Raises
    ------
    RowsError: a probability that is none. InputError: a column of them that holds no numbers.
    """
    if "stratum" in frame.columns:
        name = pl.col("stratum").cast(pl.String)
        frame = frame.with_columns(pl.when(name != "").then(name).alias("stratum"))
    if "probability" not in frame.columns:
        return frame
    kind = frame.schema["probability"]
    if not (kind.is_numeric() or kind == pl.Null):
        raise InputError(f"{printable(source)}: column probability holds {kind} values, not numbers")
    chance = pl.col("probability")
    frame = frame.with_columns(chance.cast(pl.Float64))
    wrong = frame.filter(chance.is_nan() | (chance <= 0) | (chance > 1))
    if wrong.height:
        faults = row_faults(wrong, "probability", "a probability is above 0 and at most 1")
        raise RowsError(source, faults, wrong.height)
    return frame


def row_faults(wrong: pl.DataFrame, column: str, expected: str) -> list[RowFault]:
    """The first wrong rows as faults, each with its line and what stands in the column."""
    lines = wrong[ROW].to_list() if ROW in wrong.columns else [None] * wrong.height
    shown = wrong.head(kept_rows())
    texts = ["nothing" if value is None else str(value) for value in shown[column].to_list()]
    return [
        RowFault(line if line is not None else index + 1, None, text, expected)
        for index, (line, text) in enumerate(zip(lines, texts, strict=False))
    ]


def one_grade_a_pair(frame: pl.DataFrame, source: str, conflicts: str) -> tuple[pl.DataFrame, int, int]:
    """Repeated pairs merged where equal, settled by the rule where not; the order of first occurrence stays."""
    key = ["query_id", "doc_id"] + (["subtopic"] if "subtopic" in frame.columns else [])
    repeated = frame.select(pl.struct(key).is_duplicated()).to_series()
    if not repeated.any():
        return frame, 0, 0
    groups = frame.filter(repeated).group_by(key, maintain_order=True)
    counted = groups.agg(pl.len().alias("rows"), pl.col("grade").n_unique().alias("grades"))
    clashing = counted.filter(pl.col("grades") > 1)
    merged = int((counted.filter(pl.col("grades") == 1)["rows"] - 1).sum())
    resolved = int((clashing["rows"] - 1).sum())
    if clashing.height and conflicts == "error":
        raise RowsError(source, _clashes(frame, clashing, key), clashing.height, CONFLICT_ADVICE)
    rule = {
        "first": pl.col("grade").first(),
        "last": pl.col("grade").last(),
        "max": pl.col("grade").max(),
        "min": pl.col("grade").min(),
        "mean": pl.col("grade").mean(),
        # The smaller grade wins a draw, so that a tie never flatters.
        "majority": pl.col("grade").mode().min(),
        "error": pl.col("grade").first(),
    }[conflicts]
    rest = [pl.col(c).first() for c in frame.columns if c not in (*key, "grade", ROW)]
    if ROW in frame.columns:
        # The line of the grade that was taken, for whoever finds fault with it later; a mean stands in no line.
        rest.append(pl.coalesce(pl.col(ROW).filter(pl.col("grade") == rule).first(), pl.col(ROW).first()))
    return frame.group_by(key, maintain_order=True).agg(rule, *rest).select(frame.columns), merged, resolved


def one_need_a_pair(frame: pl.DataFrame, source: str) -> pl.DataFrame:
    """The frame with its needs as text, null where blank.

    Raises
    ------
    RowsError: a document that stands under two needs of one query (no need counts as one of its own). InputError:
        needs beside subtopics.
    """
    if "subtopic" in frame.columns:
        raise InputError(f"{printable(source)}: alternatives (column need) and subtopics do not go together")
    name = pl.col("need").cast(pl.String)
    frame = frame.with_columns(pl.when(name != "").then(name).alias("need"))
    needs = pl.col("need").fill_null("").n_unique().over("query_id", "doc_id")
    wrong = frame.filter(needs > 1).unique(["query_id", "doc_id"], keep="last", maintain_order=True)
    if wrong.height:
        faults = row_faults(wrong, "doc_id", "the document stands under two needs of this query")
        raise RowsError(source, faults, wrong.height)
    return frame


Named = dict[str, dict[str, str]]
"""Of each query something by document."""


def one_row_a_need(frame: pl.DataFrame, source: str) -> tuple[pl.DataFrame, Named, Named]:
    """One row for each need, its first; from the other documents of a need to that one; and each row's need, by query.

    Raises
    ------
    RowsError: alternatives of one need with different grades, or with different strata or probabilities of a sampled pool.
    """
    key = ["query_id", "need"]
    alike = ["grade", *(name for name in ("stratum", "probability") if name in frame.columns)]
    first = [pl.col(name).first().over(key).alias(f"first_{name}") for name in ("doc_id", *alike)]
    named = frame.filter(pl.col("need").is_not_null()).with_columns(first)
    for name in alike:
        wrong = named.filter(pl.col(name).ne_missing(pl.col(f"first_{name}")))
        if wrong.height:
            faults = row_faults(wrong, name, f"alternatives of one need have one {name}, that of the first")
            raise RowsError(source, faults, wrong.height)
    others = named.filter(pl.col("doc_id") != pl.col("first_doc_id"))
    found: Named = {}
    for query, own, of in others.select("query_id", "doc_id", "first_doc_id").iter_rows():
        found.setdefault(query, {})[own] = of
    rest = frame.join(others, on=["query_id", "doc_id"], how="anti", maintain_order="left")
    names: Named = {}
    for query, doc, need in (
        rest.filter(pl.col("need").is_not_null()).select(*key[:1], "doc_id", "need").iter_rows()
    ):
        names.setdefault(query, {})[doc] = need
    return rest.drop("need"), found, names


def one_row_a_document(
    frame: pl.DataFrame, alternatives: Mapping[str, Mapping[str, str]], needs: Mapping[str, Mapping[str, str]]
) -> pl.DataFrame:
    """Back from `one_row_a_need`: every document of a need as a row behind the first one, with a column of needs.

    >>> rows = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "c"], "grade": [1.0, 0.0]})
    >>> one_row_a_document(rows, {"q": {"b": "a"}}, {"q": {"a": "who"}}).rows()
    [('q', 'a', 1.0, 'who'), ('q', 'b', 1.0, 'who'), ('q', 'c', 0.0, None)]
    """
    key = {"query_id": pl.String, "doc_id": pl.String}
    told = [(query, doc, need) for query, known in needs.items() for doc, need in known.items()]
    more = [(query, first, own) for query, known in alternatives.items() for own, first in known.items()]
    name = pl.DataFrame(told, schema={**key, "need": pl.String}, orient="row")
    rows = frame.join(name, on=[*key], how="left", maintain_order="left").with_row_index("at")
    # A need that was not named is called as its first document.
    others = pl.DataFrame(more, schema={**key, "other": pl.String}, orient="row")
    first = others.select(*key).unique().with_columns(own=pl.col("doc_id"))
    rows = rows.join(first, on=[*key], how="left", maintain_order="left")
    rows = rows.with_columns(need=pl.coalesce("need", "own")).drop("own")
    added = others.join(rows, on=[*key], how="inner", maintain_order="left")
    added = added.with_columns(doc_id=pl.col("other")).select(rows.columns)
    return pl.concat([rows, added]).sort("at", maintain_order=True).drop("at")


CONFLICT_ADVICE = "name a rule to settle them: --conflicts first, last, max, min, mean or majority"


def _clashes(frame: pl.DataFrame, clashing: pl.DataFrame, key: list[str]) -> list[RowFault]:
    """For each of the first clashing pairs, its second line with the line and grade of the first."""
    frame = frame if ROW in frame.columns else frame.with_row_index(ROW, offset=1)
    other = (pl.col("grade") != pl.col("grade").first()).arg_max()
    shown = clashing.head(kept_rows()).select(key)
    rows = frame.join(shown, on=key, how="semi", nulls_equal=True, maintain_order="left")
    pairs = rows.group_by(key, maintain_order=True).agg(
        pl.col(ROW).first().alias("first_row"),
        pl.col("grade").first().alias("first_grade"),
        pl.col(ROW).get(other),
        pl.col("grade").get(other),
    )
    return [
        RowFault(
            int(one[ROW]),
            None,
            f"{one['query_id']} {one['doc_id']} {one['grade']:g}",
            f"but line {one['first_row']} judges the same pair {one['first_grade']:g}",
        )
        for one in pairs.iter_rows(named=True)
    ]
