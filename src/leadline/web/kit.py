"""The offline kit: one HTML file with which one assessor judges without a server, and gives JSONL for the book back."""

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from leadline.errors import MissingExtraError, UsageError, amount
from leadline.formats.write import atomic_write
from leadline.judging.assignment import is_repeated, order_for
from leadline.web.documents import Documents, host_of
from leadline.web.pairs import Pair, Query
from leadline.web.settings import KEYS, Rules
from leadline.web.setup import Setup
from leadline.web.templating import STATIC, levels, template

SCRIPTS = (
    "dom.js",
    "text.js",
    "clock.js",
    "outbox.js",
    "view.js",
    "judge.js",
    "hands.js",
    "kit.js",
    "kit_start.js",
)
"""The scripts of a kit, in the order in which they run; all but the last two are the server's."""


def write_kit(
    path: str | Path,
    pairs: Sequence[Pair],
    documents: Documents,
    queries: Mapping[str, Query],
    rules: Rules | None = None,
    who: str | None = None,
    *,
    seed: str = "leadline",
    repeats: float = 0.05,
) -> int:
    """Write one HTML file that stands alone: pairs, documents, guideline and the judging screen.

    It works from a disk, without a network. The answers are kept in the browser; its button gives them as JSONL, one
    row of the book a line, which `leadline book import` and `Book.merge` take. Ranks and systems are not in it.

    Parameters
    ----------
    pairs, documents, queries: as `read_pairs`, `read_documents` and `read_query_texts` give them; pairs whose
        document is not there are left out.
    rules: the scale and the guideline (the usual ones where left out).
    who: the assessor's name; None: the page asks for it.
    seed: of the order and of the pairs shown again. repeats: the share of pairs that is shown once more.

    Raises
    ------
    UsageError: none of the pairs has its document, or a scale that cannot be read. MissingExtraError: without `serve`.

    Returns
    -------
    How many pairs are in it.

    >>> import tempfile
    >>> from leadline.web.documents import Document
    >>> pairs = [Pair("q", "d", "name", 0, {"bm25": 1}), Pair("q", "gone", "other", 1, {})]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "ana.html")
    ...     count = write_kit(file, pairs, Documents([Document("d", "a < b")]), {}, Rules.of("0-2"), "ana")
    ...     count, "a \\u003c b" in file.read_text(encoding="utf-8"), "bm25" in file.read_text(encoding="utf-8")
    (1, True, False)
    """
    rules = rules or Rules.of()
    kept = {(one.query_id, one.doc_id): one for one in pairs if one.doc_id in documents}
    if not kept:
        raise UsageError("none of the pairs has its document, so there is nothing to judge offline")
    rows = _rows(Setup(pairs, documents, queries, rules), kept, who or "", seed, repeats)
    data = {
        "who": who,
        "pairs": rows,
        "documents": {row["doc_id"]: _document(row["doc_id"], documents) for row in rows if row["has_more"]},
        "settings": {"scale": levels(rules.scale), "keys": dict(KEYS), "guideline_version": rules.version},
    }
    # The browser keeps answers under this name: another kit, even from the same folder, must not find them.
    data["name"] = hashlib.sha256(_json(data).encode()).hexdigest()[:16]
    with atomic_write(path) as temporary:
        temporary.write_text(_page(data, rules, who, len(rows)), encoding="utf-8")
    return len(rows)


def _rows(
    setup: Setup, kept: Mapping[tuple[str, str], Pair], who: str, seed: str, repeats: float
) -> list[dict[str, Any]]:
    """The pairs as the server's pages get them, in the person's order."""
    try:
        from leadline.web.api import shown
    except ImportError:
        raise MissingExtraError("an offline kit", "serve") from None
    rows = []
    for key in order_for(who, kept, seed):
        pair = kept[key]
        row = shown(setup, pair, pair.name).model_dump()
        row |= {
            name: value for name in ("probability", "stratum") if (value := getattr(pair, name)) is not None
        }
        if is_repeated(key, who, seed, repeats):
            row["again"] = True
        rows.append(row)
    return rows


def _document(doc_id: str, documents: Documents) -> dict[str, Any]:
    one, around = documents.by_id[doc_id], documents.around(doc_id)
    return {
        "doc_id": doc_id,
        "title": one.title,
        "path": one.path,
        "text": around.text if around else one.text,
        "start": around.start if around else None,
        "end": around.end if around else None,
    }


def _page(data: Mapping[str, Any], rules: Rules, who: str | None, count: int) -> str:
    from markupsafe import Markup

    style = (STATIC / "leadline.css").read_text(encoding="utf-8")
    scripts = [(STATIC / name).read_text(encoding="utf-8") for name in SCRIPTS]
    return template("kit.html").render(
        policy=_policy(style, scripts, data["pairs"]),
        style=Markup(style),
        scripts=[Markup(text) for text in scripts],
        data=Markup(_json(data)),
        who=who,
        count=amount(count, "pair"),
        keys=KEYS,
        scale=levels(rules.scale),
        guideline_html=Markup(rules.html()),
    )


def _policy(style: str, scripts: Sequence[str], pairs: Sequence[Mapping[str, Any]]) -> str:
    """Only what is in the file may run or style it, by its hash; pictures come from the hosts that the cards name."""
    hosts = sorted(
        {f"{urlsplit(row['image']).scheme}://{host_of(row['image'])}" for row in pairs if row["image"]}
    )
    return "; ".join(
        [
            "default-src 'none'",
            "script-src " + " ".join(map(_hash, scripts)),
            "style-src " + _hash(style),
            "img-src " + (" ".join(hosts) or "'none'"),
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json(data: Any) -> str:
    """JSON that no text in it can end: `<`, `>` and `&` are escaped, so there is no `</script>` and no comment."""
    text = json.dumps(data, ensure_ascii=False, sort_keys=True)
    # Half of a surrogate pair cannot be written as UTF-8, but JSON can spell it.
    return re.sub("[<>&\u2028\u2029\ud800-\udfff]", lambda sign: f"\\u{ord(sign[0]):04x}", text)
