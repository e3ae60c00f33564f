"""Rules about texts: queries and documents that are empty, or have one text under several ids."""

import polars as pl

from leadline.errors import ROW, amount, printable
from leadline.lint.finding import EXAMPLES, Findings
from leadline.lint.reading import Read


def check_queries(read: Read, found: Findings) -> None:
    """Every warning about the texts of queries; RAG rows may ask one question under one id only."""
    queries = read.queries
    if queries is None or "text" not in queries.columns or not queries.height:
        return
    table = _told(queries, "query_id")
    empty = table.filter(pl.col("plain") == "")
    # A file that only names queries has no texts at all.
    if empty.height and empty.height < table.height:
        _empty("empty-query", read, empty, "query has", "queries have", found)
    full = table.filter(pl.col("plain") != "")
    same = _groups(full, "plain")
    if same.height:
        rows = int(same["rows"].sum())
        _warn(
            "query-text-twice",
            read,
            same,
            f"{rows} queries have the text of another, but for case, punctuation and white space ({_texts(same.height)})",
            found,
        )


def check_documents(read: Read, found: Findings) -> None:
    """Every warning about the texts of documents."""
    documents = read.documents
    if documents is None or not documents.height:
        return
    table = _told(documents, "doc_id")
    empty = table.filter(pl.col("text").str.strip_chars() == "")
    if empty.height:
        _empty("empty-document", read, empty, "document has", "documents have", found)
    full = table.filter(pl.col("text").str.strip_chars() != "")
    same = _groups(full, "text")
    if same.height:
        rows = int(same["rows"].sum())
        _warn(
            "text-twice",
            read,
            same,
            f"{rows} documents share their text with another ({_texts(same.height)})",
            found,
        )
    # Of documents with one text, one stands for all.
    alike = _groups(
        full.unique("text", keep="first", maintain_order=True).filter(pl.col("plain") != ""), "plain"
    )
    if alike.height:
        rows = int(alike["rows"].sum())
        text = f"{rows} documents differ from another in case, punctuation or white space alone ({_texts(alike.height)})"
        _warn("text-alike", read, alike, text, found)


def _told(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    """id, text, the text in plain form (letters and digits of all scripts, in lower case), and the line."""
    text = pl.col("text").cast(pl.String).fill_null("")
    plain = text.str.to_lowercase().str.replace_all(r"[^\p{L}\p{M}\p{N}+#]+", " ").str.strip_chars()
    return frame.select(pl.col(name).alias("id"), text.alias("text"), plain.alias("plain"), pl.col(ROW))


def _groups(table: pl.DataFrame, by: str) -> pl.DataFrame:
    groups = table.filter(pl.col(by).is_duplicated()).group_by(by, maintain_order=True)
    return groups.agg(
        pl.col("id"), pl.len().alias("rows"), pl.col(ROW), pl.col("text").first().alias("first")
    )


def _texts(count: int) -> str:
    return amount(count, "text")


def _empty(code: str, read: Read, empty: pl.DataFrame, one: str, many: str, found: Findings) -> None:
    found.warn(
        code,
        read.file,
        f"{amount(empty.height, one, many)} no text",
        empty.height,
        line=empty[ROW][0],
        found=empty["id"][0],
        examples=[
            f"{printable(own)} ({read.line('texts', row)})"
            for own, row in empty.select("id", ROW).head(EXAMPLES).iter_rows()
        ],
    )


def _warn(code: str, read: Read, groups: pl.DataFrame, text: str, found: Findings) -> None:
    first = groups.row(0, named=True)
    found.warn(
        code,
        read.file,
        text,
        int(groups["rows"].sum()),
        line=first[ROW][1],
        found=str(first["first"])[:80],
        examples=[_group(read, one["id"], one[ROW]) for one in groups.head(EXAMPLES).iter_rows(named=True)],
    )


def _group(read: Read, ids: list[str], rows: list[int]) -> str:
    shown = " = ".join(map(printable, ids[:4])) + (f" = … ({len(ids)})" if len(ids) > 4 else "")
    return f"{shown} ({read.line('texts', rows[0])})"
