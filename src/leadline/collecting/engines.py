"""Requests to Elasticsearch, OpenSearch and Solr, where their answers hold what, and their signs of a partial answer."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as File
from typing import Any
from urllib.parse import quote

from leadline.collecting.reply import read_map
from leadline.collecting.target import PLACE, HttpTarget, checked_url, secret_headers
from leadline.errors import InputError, UsageError, printable
from leadline.formats.jsontext import WrongJson, parse, whole

ENGINES = ("elasticsearch", "opensearch", "solr")
HITS = {"ids": "hits.hits[*]._id", "scores": "hits.hits[*]._score"}
DOCS = {"ids": "response.docs[*].id", "scores": "response.docs[*].score"}
SEARCH_TEXT = "%SearchText%"
"""The place of the query's text in an OpenSearch search configuration."""


@dataclass(frozen=True)
class Wish:
    """What is asked of an engine besides its address: the fields searched, and the field that holds the text."""

    fields: Sequence[str] = ()
    text_field: str = ""
    headers: Mapping[str, str] | None = None
    where: Mapping[str, str] | None = None


def engine_target(engine: str, url: str, wish: Wish) -> HttpTarget:
    """A target from `elasticsearch:URL`, `opensearch:URL` or `solr:URL`; the address ends in the index or collection.

    Elasticsearch and OpenSearch are sent `multi_match` over the fields (without fields: the index's default fields)
    to `_search`; Solr is sent its JSON request to `query`, with `edismax` over the fields.

    Raises
    ------
    UsageError: an address without an index or a collection.

    >>> wish = Wish(["title^2", "body"])
    >>> engine_target("elasticsearch", "http://localhost:9200/docs", wish).request("pump", 5, "q").body
    b'{"size": 5, "query": {"multi_match": {"query": "pump", "fields": ["title^2", "body"]}}, "_source": false}'
    """
    base = checked_url(url).rstrip("/")
    if "?" in base or base.count("/") < 3:
        raise UsageError(
            f"{engine}:{printable(base.partition('?')[0])}: the address ends in the index or collection, "
            "such as elasticsearch:http://localhost:9200/docs"
        )
    headers = secret_headers(wish.headers or {})
    if engine == "solr":
        return _solr(base, wish, headers)
    matched: dict[str, Any] = {"query": "{query}"}
    if wish.fields:
        matched["fields"] = list(wish.fields)
    body: dict[str, Any] = {"size": "{k}", "query": {"multi_match": matched}, "_source": False}
    where = dict(HITS)
    if wish.text_field:
        body["_source"] = [wish.text_field]
        where["texts"] = f"hits.hits[*]._source.{wish.text_field}"
    return HttpTarget(
        f"{base}/_search", "POST", body, headers, read_map(where | dict(wish.where or {})), engine
    )


def _solr(base: str, wish: Wish, headers: Mapping[str, str]) -> HttpTarget:
    params = {"defType": "edismax"} | ({"qf": " ".join(wish.fields)} if wish.fields else {})
    returned = ["id", "score", *([wish.text_field] if wish.text_field else [])]
    body = {"query": "{query}", "limit": "{k}", "fields": returned, "params": params}
    where = dict(DOCS) | ({"texts": f"response.docs[*].{wish.text_field}"} if wish.text_field else {})
    return HttpTarget(
        f"{base}/query", "POST", body, headers, read_map(where | dict(wish.where or {})), "solr"
    )


def configured_target(base: str, configuration: Any, wish: Wish, source: str) -> HttpTarget:
    """A target from an OpenSearch search configuration: index, query with `%SearchText%`, and search pipeline.

    The configuration is the object itself, or the answer of the server that holds it.

    Raises
    ------
    InputError: there is none, or its query is no JSON or has no `%SearchText%`.

    >>> one = {"index": "docs", "query": '{"query": {"match": {"body": "%SearchText%"}}}', "searchPipeline": "hybrid"}
    >>> target = configured_target("http://localhost:9200", one, Wish(), "c.json")
    >>> target.url, target.request('a "b"', 5, "q").body
    ('http://localhost:9200/docs/_search?search_pipeline=hybrid', b'{"query": {"match": {"body": "a \\\\"b\\\\""}}, "size": 5}')
    """
    found = _configuration(configuration, source)
    index, query, pipeline = found.get("index"), found.get("query"), found.get("searchPipeline")
    if not isinstance(index, str) or not index or not isinstance(query, str | dict):
        raise InputError(f"{printable(source)}: a search configuration has an index and a query")
    if isinstance(query, str):
        try:
            query = parse(query)
        except WrongJson as error:
            raise InputError(f"{printable(source)}: the query is {error.expected}") from None
    if not isinstance(query, dict) or SEARCH_TEXT not in json.dumps(query):
        raise InputError(f"{printable(source)}: the query is an object that holds {SEARCH_TEXT}")
    if PLACE.search(json.dumps(query)):
        raise InputError(
            f"{printable(source)}: the query holds {{query}} or {{k}}, which are places of our own"
        )
    body = _placed(query) | {"size": "{k}"}
    url = f"{checked_url(base).rstrip('/')}/{quote(index, safe=',*')}/_search"
    if pipeline:
        url += f"?search_pipeline={quote(str(pipeline), safe='')}"
    where = dict(HITS) | ({"texts": f"hits.hits[*]._source.{wish.text_field}"} if wish.text_field else {})
    paths = read_map(where | dict(wish.where or {}))
    return HttpTarget(url, "POST", body, secret_headers(wish.headers or {}), paths, "opensearch")


def read_configuration(path: str) -> Any:
    """The content of a file that holds a search configuration.

    Raises
    ------
    InputError: it cannot be read, or is no JSON.
    """
    try:
        return whole(File(path).read_text(encoding="utf-8"), path)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{printable(path)}: cannot be read ({error})") from None


def configuration_target(base: str, own_id: str, wish: Wish) -> HttpTarget:
    """The target that gives a search configuration by its id."""
    url = f"{checked_url(base).rstrip('/')}/_plugins/_search_relevance/search_configurations/{quote(own_id, safe='')}"
    return replace(HttpTarget(url, "GET"), headers=secret_headers(wish.headers or {}))


def _configuration(value: Any, source: str) -> Mapping[str, Any]:
    """The configuration itself: as it is, in `_source`, or as the one hit of a search answer."""
    if isinstance(value, Mapping) and isinstance(value.get("hits"), Mapping):
        hits = value["hits"].get("hits")
        if not isinstance(hits, list) or len(hits) != 1:
            count = len(hits) if isinstance(hits, list) else 0
            raise InputError(f"{printable(source)}: {count} search configurations, one is wanted")
        value = hits[0]
    if isinstance(value, Mapping) and isinstance(value.get("_source"), Mapping):
        value = value["_source"]
    if not isinstance(value, Mapping):
        raise InputError(f"{printable(source)}: a search configuration is an object")
    return value


def _placed(template: Any) -> Any:
    """A configuration's query with our place for the text."""
    if isinstance(template, str):
        return template.replace(SEARCH_TEXT, "{query}")
    if isinstance(template, dict):
        return {key: _placed(value) for key, value in template.items()}
    if isinstance(template, list):
        return [_placed(value) for value in template]
    return template


def partial_answer(engine: str, answer: Any) -> str:
    """Why an answer with status 200 is not the whole one; empty where it is.

    An engine that ran out of time, or lost shards, answers with what it has: scored as it is, the ranking would look
    worse, or better, than the system is.

    >>> partial_answer("elasticsearch", {"timed_out": True, "hits": {"hits": []}})
    'partial: timed_out'
    >>> partial_answer("solr", {"responseHeader": {"partialResults": True}, "response": {"docs": []}})
    'partial: partialResults'
    """
    if not isinstance(answer, Mapping):
        return ""
    if engine == "solr":
        head = answer.get("responseHeader")
        partial = isinstance(head, Mapping) and head.get("partialResults") in (True, "true", "omitted")
        return "partial: partialResults" if partial else ""
    if engine in ("elasticsearch", "opensearch"):
        if answer.get("timed_out") is True:
            return "partial: timed_out"
        shards = answer.get("_shards")
        failed = shards.get("failed") if isinstance(shards, Mapping) else 0
        if isinstance(failed, int) and failed > 0:
            return f"partial: {failed} of {shards.get('total', '?')} shards failed"  # type: ignore[union-attr]
    return ""
