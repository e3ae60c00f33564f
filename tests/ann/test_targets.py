"""Every kind of target, against the real thing: it answers, its setting matters, its exact search is exact."""

import json
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leadline.ann.distance import Space
from leadline.ann.exact import nearest
from leadline.ann.fidelity import check_facts, ids_of
from leadline.ann.recall import recall_of
from leadline.ann.target import ask_all, kind_and_place, open_target, shown_name
from leadline.cli.main import run
from leadline.errors import InputError, MissingExtraError, UsageError
from shared.books import database

K = 10


def true_ids(documents, queries, metric="cosine", k=K):
    return ids_of(nearest(Space.of(documents, metric), queries.data, k), documents)


def mean_recall(answers, truth, k=K):
    values = [recall_of(got or [], want, k) for got, want in zip(answers.ids, truth, strict=True)]
    return sum(values) / len(values)


def measured(target, documents, queries, setting=None, metric="cosine"):
    if setting:
        target.change(*setting)
    timed = ask_all(target, queries, K, warm=1)
    assert not timed.answers.errors
    assert (timed.seconds > 0).all()
    return mean_recall(timed.answers, true_ids(documents, queries, metric))


@pytest.mark.parametrize("metric", ["cosine", "ip", "l2"])
@pytest.mark.parametrize(
    ("kind", "module", "low", "high", "build"),
    [
        ("hnswlib", "hnswlib", ("ef", 10), ("ef", 800), {"M": 4, "ef_construction": 20}),
        ("usearch", "usearch", ("expansion_search", 1), ("expansion_search", 1000), {"connectivity": 3}),
        ("faiss", "faiss", ("efSearch", 2), ("efSearch", 1000), {"index": "HNSW4"}),
        ("faiss", "faiss", ("nprobe", 1), ("nprobe", 30), {"index": "IVF30,Flat"}),
    ],
    ids=["hnswlib", "usearch", "faiss HNSW", "faiss IVF"],
)
def test_built_here(documents, queries, needs, metric, kind, module, low, high, build):
    needs(module)
    with closing(open_target(kind, build, documents, 16, metric)) as target:
        facts = target.facts()
        assert (facts.rows, facts.dimensions) == (1500, 16)
        assert facts.metric in (None, metric)
        worse = measured(target, documents, queries, low, metric)
        better = measured(target, documents, queries, high, metric)
    assert worse < better
    # An inner product of vectors of many lengths is no metric: a graph of four edges never finds all.
    assert better > (0.6 if metric == "ip" else 0.97)
    if build.get("index") == "IVF30,Flat":
        assert better == 1.0


def test_hnswlib_from_a_file_and_with_a_filter(documents, queries, needs, tmp_path):
    hnswlib = needs("hnswlib")
    index = hnswlib.Index("cosine", 16)
    index.init_index(1500, M=16)
    index.add_items(documents.data, np.arange(1500))
    index.save_index(str(tmp_path / "docs.bin"))
    target = open_target(f"hnswlib:{tmp_path}/docs.bin", {"ef": 1500}, documents, 16, "cosine")
    assert measured(target, documents, queries) > 0.99
    allowed = [f"d{row}" for row in range(0, 1500, 7)]
    found = target.search(queries.data[0], 5, allowed)
    assert len(found) == 5
    assert set(found) <= set(allowed)
    assert target.search(queries.data[0], 5, []) == []
    with pytest.raises(UsageError, match="no exact search"):
        target.exact(queries.data[0], 5)
    with pytest.raises(UsageError, match=r"did you mean ef\?"):
        target.change("eff", 3)
    with pytest.raises(UsageError, match="hnswlib: cannot be built with M=1"):
        open_target("hnswlib", {"M": 1}, documents, 16, "cosine")
    (tmp_path / "torn.bin").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match=r"torn\.bin: cannot be opened as hnswlib index"):
        open_target(f"hnswlib:{tmp_path}/torn.bin", {}, documents, 16, "cosine")
    with pytest.raises(InputError, match="there is no such hnswlib index"):
        open_target(f"hnswlib:{tmp_path}/none.bin", {}, documents, 16, "cosine")


def test_usearch_from_a_file_and_its_own_exact_search(documents, queries, needs, tmp_path):
    index = needs("usearch.index").Index(ndim=16, metric="cos", dtype="f32")
    index.add(np.arange(1500), documents.data)
    index.save(str(tmp_path / "docs.usearch"))
    with closing(open_target(f"usearch:{tmp_path}/docs.usearch", {}, documents, 16, "cosine")) as target:
        truth = true_ids(documents, queries)
        exact = ask_all(target, queries, K, exact=True, warm=0)
        assert mean_recall(exact.answers, truth) == 1.0
        assert target.facts().metric == "cosine"
    (tmp_path / "torn.usearch").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="cannot be opened as usearch index"):
        open_target(f"usearch:{tmp_path}/torn.usearch", {}, documents, 16, "cosine")


def test_faiss_from_a_file(documents, queries, needs, tmp_path):
    faiss = needs("faiss")
    index = faiss.IndexFlatL2(16)
    index.add(documents.data)
    faiss.write_index(index, str(tmp_path / "docs.faiss"))
    target = open_target(f"faiss:{tmp_path}/docs.faiss", {}, documents, 16, "l2")
    assert measured(target, documents, queries, metric="l2") == 1.0
    assert target.facts().metric == "l2"
    products = faiss.IndexFlatIP(16)
    products.add(documents.data)
    faiss.write_index(products, str(tmp_path / "ip.faiss"))
    by_cosine = open_target(f"faiss:{tmp_path}/ip.faiss", {}, documents, 16, "cosine")
    assert by_cosine.facts().metric == "ip", "its vectors are not of length 1: not the cosine"
    with pytest.raises(InputError, match="has 16 dimensions, the queries 8"):
        open_target(f"faiss:{tmp_path}/docs.faiss", {}, None, 8, "l2")
    with pytest.raises(UsageError, match="unknown setting of this faiss index 'nprobes'"):
        target.change("nprobes", 3)
    with pytest.raises(UsageError, match="index=HNSWx is no recipe"):
        open_target("faiss", {"index": "HNSWx"}, documents, 16, "l2")


def test_labels_can_be_the_ids_themselves(documents, needs, tmp_path):
    index = needs("usearch.index").Index(ndim=16, metric="cos", dtype="f32")
    index.add(np.arange(1500) + 7000, documents.data)
    index.save(str(tmp_path / "i"))
    with closing(open_target(f"usearch:{tmp_path}/i", {"labels": "ids"}, documents, 16, "cosine")) as target:
        assert target.search(documents.data[3], 1) == ["7003"]


def test_lancedb(documents, queries, needs, tmp_path):
    lancedb, pa = needs("lancedb"), needs("pyarrow")
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(documents.data.ravel()), 16)
    rows = pa.table({"id": pa.array(documents.ids), "vector": vectors})
    table = lancedb.connect(tmp_path / "lance").create_table("docs", rows)
    recipe = needs("lancedb.index").IvfFlat(distance_type="cosine", num_partitions=30)
    table.create_index("vector", config=recipe)
    target = open_target(f"lancedb:{tmp_path}/lance", {"table": "docs"}, documents, 16, "cosine")
    assert target.facts() == type(target.facts())(1500, 16, "cosine")
    worse = measured(target, documents, queries, ("nprobes", 1))
    better = measured(target, documents, queries, ("nprobes", 30))
    assert worse < better == 1.0
    target.change("nprobes", 1)
    exact = ask_all(target, queries, K, exact=True, warm=0)
    assert mean_recall(exact.answers, true_ids(documents, queries)) == 1.0
    found = target.exact(queries.data[0], 5, ["d3", "d5", "it's"])
    assert sorted(found) == ["d3", "d5"]
    with pytest.raises(InputError, match="the table has no column 'vec'; it has id, vector"):
        open_target(f"lancedb:{tmp_path}/lance", {"table": "docs", "column": "vec"}, documents, 16, "cosine")
    with pytest.raises(InputError, match="LanceDB: "):
        open_target(f"lancedb:{tmp_path}/lance", {"table": "none"}, documents, 16, "cosine")
    with pytest.raises(UsageError, match="needs --set table=NAME"):
        open_target(f"lancedb:{tmp_path}/lance", {}, documents, 16, "cosine")


def test_qdrant(documents, queries, needs, tmp_path):
    q = needs("qdrant_edge")
    config = q.EdgeConfig(
        vectors=q.EdgeVectorParams(size=16, distance=q.Distance.Cosine),
        hnsw_config=q.HnswIndexConfig(m=4, ef_construct=8, full_scan_threshold=1),
        optimizers=q.EdgeOptimizersConfig(indexing_threshold=1, default_segment_number=1),
    )
    shard = q.EdgeShard.create(str(tmp_path / "shard"), config)
    points = [
        q.Point(id=row, vector=documents.data[row].tolist(), payload={"doc": f"d{row}"})
        for row in range(1500)
    ]
    shard.update(q.UpdateOperation.upsert_points(points))
    shard.optimize()
    shard.flush()
    shard.close()
    with closing(open_target(f"qdrant:{tmp_path}/shard", {"id": "doc"}, documents, 16, "cosine")) as target:
        facts = target.facts()
        assert (facts.rows, facts.dimensions, facts.metric) == (1500, 16, "cosine")
        worse = measured(target, documents, queries, ("hnsw_ef", 1))
        better = measured(target, documents, queries, ("hnsw_ef", 1000))
        assert worse < better
        exact = ask_all(target, queries, K, exact=True, warm=0)
        assert mean_recall(exact.answers, true_ids(documents, queries)) == 1.0
        assert sorted(target.search(queries.data[0], 5, ["d3", "d5"])) == ["d3", "d5"]
    with pytest.raises(InputError, match="there is no such Qdrant folder"):
        open_target(f"qdrant:{tmp_path}/none", {}, documents, 16, "cosine")


@pytest.fixture(scope="module")
def postgres(server: str) -> Iterator[str]:
    yield from database(server)


def test_pgvector(documents, queries, needs, postgres):
    psycopg = needs("psycopg")
    needs("pgvector")
    with pytest.raises(InputError, match="the database lacks pgvector"):
        open_target(postgres, {"table": "docs"}, documents, 16, "cosine")
    with pytest.raises(InputError, match=r"^PostgreSQL: .*(refused|failed)"):
        open_target("postgresql://u:p@127.0.0.1:9/x", {"table": "docs"}, documents, 16, "cosine")
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute("CREATE TABLE docs (id text PRIMARY KEY, embedding vector(16))")
        with connection.cursor() as cursor:
            rows = zip(documents.ids, documents.data.tolist(), strict=True)
            cursor.executemany("INSERT INTO docs VALUES (%s, %s)", [(one, str(v)) for one, v in rows])
        connection.execute(
            "CREATE INDEX ON docs USING hnsw (embedding vector_cosine_ops) WITH (m = 2, ef_construction = 4)"
        )
        connection.execute("ANALYZE docs")
    with closing(open_target(postgres, {"table": "docs"}, documents, 16, "cosine")) as target:
        facts = target.facts()
        assert (facts.rows, facts.dimensions, facts.metric) == (1500, 16, "cosine")
        worse = measured(target, documents, queries, ("hnsw.ef_search", 10))
        better = measured(target, documents, queries, ("hnsw.ef_search", 1000))
        assert worse < better
        exact = ask_all(target, queries, K, exact=True, warm=0)
        assert mean_recall(exact.answers, true_ids(documents, queries)) == 1.0
        assert sorted(target.exact(queries.data[0], 5, ["d3", "d5"])) == ["d3", "d5"]
        with pytest.raises(UsageError, match=r"pgvector: hnsw\.ef_search=-3"):
            target.change("hnsw.ef_search", -3)
        with pytest.raises(UsageError, match="unknown setting of pgvector"):
            target.change("search_path", "x")
        with pytest.raises(InputError, match="has 16 dimensions, the queries 8"):
            check_facts(facts, None, type(queries)("q", queries.data[:, :8]), "cosine", "pg")
    for settings, message in (
        ({"table": "none"}, 'relation "none" does not exist'),
        ({"table": "docs", "column": "vec"}, 'column "vec" does not exist'),
        ({"table": "docs", "column": "id"}, "the column id is text, no vector"),
    ):
        with pytest.raises(InputError, match=message):
            open_target(postgres, settings, documents, 16, "cosine")


def test_pgvector_by_the_command_without_vectors(documents, files, needs, postgres, capsys):
    """The whole way: half-precision vectors, the truth from the database itself, a sweep of its own setting."""
    psycopg = needs("psycopg")
    needs("pgvector")
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute("CREATE TABLE halves (id text PRIMARY KEY, embedding halfvec(16))")
        with connection.cursor() as cursor:
            rows = zip(documents.ids, documents.data.tolist(), strict=True)
            cursor.executemany("INSERT INTO halves VALUES (%s, %s)", [(one, str(v)) for one, v in rows])
        connection.execute(
            "CREATE INDEX ON halves USING ivfflat (embedding halfvec_cosine_ops) WITH (lists = 40)"
        )
        connection.execute("ANALYZE halves")
    line = f"ann --queries {files}/queries.npy --target {postgres} --set table=halves --exact target"
    with suppress(SystemExit):
        run([*line.split(), "--sweep", "ivfflat.probes=1,40", "--reach", "0.999", "--format", "json"])
    printed = capsys.readouterr()
    assert printed.err == ""
    found = json.loads(printed.out)
    one, all_lists = found["sweep"]
    assert one["recall"]["mean"] < 0.95
    assert all_lists["recall"]["mean"] == 1.0
    assert found["cheapest"] == {"ivfflat.probes": 40}
    assert (found["truth"], found["n_queries"], found["recall"]["tie_aware_mean"]) == ("target", 60, None)


def test_a_password_is_never_shown():
    assert shown_name("postgresql://ann:s3c%40ret@h:5432/db?x=1") == "postgresql://ann:…@h:5432/db?x=1"
    assert shown_name("https://u:p@h/s") == "https://u:…@h/s"
    for name in ("postgresql://ann@h/db", "hnswlib:a@b:c.bin", "my.search:find"):
        assert shown_name(name) == name


class Search(BaseHTTPRequestHandler):
    """A search service: exact search over the documents; query 3 fails, query 4 finds nothing."""

    data: np.ndarray
    seen: list[Any]
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append((self.path, body, self.headers.get("Authorization")))
        vector = np.array(body["query"]["vector"], np.float32)
        unit = self.data / np.linalg.norm(self.data, axis=1)[:, None]
        order = np.lexsort((-(unit @ vector),))[: body["size"]]
        hits = [{"doc": {"id": f"d{row}"}} for row in order.tolist()]
        status = 200
        if vector[0] == 3.0:
            status, hits = 500, []
        if vector[0] == 4.0:
            hits = []
        if vector[0] == 5.0:
            self.wfile.write(b"garbage\r\n\r\n")
            self.close_connection = True
            return
        answer = json.dumps({"result": {"hits": hits}}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def service(documents) -> Iterator[str]:
    Search.data, Search.seen = documents.data, []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Search)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def template(tmp_path: Path, service: str, **more: Any) -> str:
    made = {
        "url": f"{service}/search?tenant={{tenant}}",
        "headers": {"Authorization": "Bearer ${ANN_TOKEN}"},
        "body": {"query": {"vector": "{vector}", "ef": "{ef}"}, "size": "{k}"},
        "ids": "result.hits[*].doc.id",
        "settings": {"ef": 64, "tenant": "a"},
    } | more
    (tmp_path / "t.json").write_text(json.dumps(made))
    return f"http:{tmp_path}/t.json"


def test_http(documents, queries, service, tmp_path, monkeypatch):
    monkeypatch.setenv("ANN_TOKEN", "s3cret")
    with closing(open_target(template(tmp_path, service), {}, documents, 16, "cosine")) as target:
        assert measured(target, documents, queries, ("ef", 99)) == 1.0
        path, body, token = Search.seen[-1]
        assert (path, token) == ("/search?tenant=a", "Bearer s3cret")
        assert (body["query"]["ef"], body["size"]) == (99, K)
        odd = queries.data.copy()
        odd[3, 0], odd[4, 0] = 3.0, 4.0
        timed = ask_all(target, type(queries)("q", odd), K, warm=0)
        assert timed.answers.errors == {3: "OSError: HTTP 500"}
        assert np.isnan(timed.seconds[3])
        assert timed.answers.ids[4] == []
        with pytest.raises(UsageError, match=r"no place for \{nprobe\}"):
            target.change("nprobe", 3)
        with pytest.raises(UsageError, match="no exact search"):
            target.exact(queries.data[0], 3)
        with pytest.raises(UsageError, match=r"no place for \{allowed\}"):
            target.search(queries.data[0], 3, ["d1"])


def test_one_answer_that_is_no_http_is_one_failed_query(documents, queries, service, tmp_path, monkeypatch):
    monkeypatch.setenv("ANN_TOKEN", "s3cret")
    odd = queries.data.copy()
    odd[3, 0] = 5.0
    with closing(open_target(template(tmp_path, service), {}, documents, 16, "cosine")) as target:
        errors = ask_all(target, type(queries)("q", odd), K, warm=0).answers.errors
    assert list(errors) == [3] and "garbage" in errors[3]


def test_secrets_of_an_address_or_a_header_are_not_shown(documents, service, tmp_path, monkeypatch):
    assert shown_name("http://h/s?q=1&api_key=s3cret") == "http://h/s?q=1&api_key=…"
    assert shown_name("postgresql://h/d?user=u&password=s3cret") == "postgresql://h/d?user=u&password=…"
    monkeypatch.setenv("ANN_TOKEN", "s3cret\n")
    for change in (
        {},
        {"url": "http://me:s3cret@h/s", "headers": {}},
        {"url": "http://h:99999/?key=s3cret", "headers": {}},
    ):
        with pytest.raises(UsageError) as caught:
            open_target(template(tmp_path, service, **change), {}, documents, 16, "cosine")
        assert "s3cret" not in str(caught.value)


def test_http_that_cannot_be_reached_or_answers_otherwise(documents, queries, service, tmp_path, monkeypatch):
    monkeypatch.delenv("ANN_TOKEN", raising=False)
    with pytest.raises(UsageError, match=r"name \$\{ANN_TOKEN\}, which the environment lacks"):
        open_target(template(tmp_path, service), {}, documents, 16, "cosine")
    plain = {"headers": {}, "url": service}
    for change, message in (
        ({"url": "http://127.0.0.1:9"}, "the target failed on every query: ConnectionRefusedError"),
        (
            {"ids": "result.rows[*].id"},
            "the target failed on every query: ValueError: the answer has nothing at result.rows",
        ),
        ({"ids": "result[*].id"}, "the answer has no list at"),
    ):
        target = open_target(template(tmp_path, service, **plain | change), {}, documents, 16, "cosine")
        with pytest.raises(InputError, match=message):
            ask_all(target, queries, K)
        target.close()
    for change, message in (
        ({"urls": "x"}, "unknown key 'urls'"),
        ({"url": 3}, "a template is an object with url"),
        ({"url": "ftp://x"}, "no address of an endpoint"),
        ({"url": "http://h:99999/"}, "no address of an endpoint"),
        ({"url": "http://h\0/"}, "no address of an endpoint"),
        ({"url": "http://[h/"}, "no address of an endpoint"),
        ({"url": f"http://{'h' * 64}.org/"}, "no address of an endpoint"),
        ({"timeout": 0}, "timeout is a number of seconds above 0"),
        ({"timeout": 10**400}, "timeout is a number of seconds above 0"),
        ({"timeout": "soon"}, "timeout is a number of seconds"),
        ({"headers": []}, "headers is an object"),
    ):
        with pytest.raises((InputError, UsageError), match=message):
            open_target(template(tmp_path, service, **plain | change), {}, documents, 16, "cosine")


def test_a_template_that_names_what_is_not_given(documents, queries, service, tmp_path):
    made = template(tmp_path, service, headers={}, settings={"tenant": "a"})
    named = pytest.raises(UsageError, match=r"names \{ef\}; give it with --set ef=VALUE")
    with closing(open_target(made, {}, documents, 16, "cosine")) as target, named:
        target.search(queries.data[0], 3)


def test_callable(documents, queries, tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", documents.data)
    (tmp_path / "my_search.py").write_text(
        "import numpy as np\n"
        f"X = np.load({str(tmp_path / 'x.npy')!r})\n"
        "X = X / np.linalg.norm(X, axis=1)[:, None]\n"
        "def find(vector, k, share=1.0, allowed=None):\n"
        "    if allowed: return list(allowed)[:k]\n"
        "    n = int(len(X) * share)\n"
        "    return [f'd{row}' for row in np.lexsort((-(X[:n] @ vector),))[:k]]\n"
    )
    monkeypatch.chdir(tmp_path)
    target = open_target("my_search:find", {}, documents, 16, "cosine")
    assert measured(target, documents, queries) == 1.0
    assert 0.3 < measured(target, documents, queries, ("share", 0.5)) < 0.7
    assert target.search(queries.data[0], 1, ["d8", "d9"]) == ["d8"]
    with pytest.raises(UsageError, match="no function 'seek'"):
        open_target("my_search:seek", {}, documents, 16, "cosine")
    with pytest.raises(
        UsageError, match="No module named 'no_such_module', and no kind of target is named so"
    ):
        open_target("no_such_module:find", {}, documents, 16, "cosine")


def test_names():
    assert kind_and_place("postgresql://u@h/db") == ("pgvector", "postgresql://u@h/db")
    assert kind_and_place("https://h/search") == ("http", "https://h/search")
    assert kind_and_place("http:t.json") == ("http", "t.json")
    assert kind_and_place("faiss") == ("faiss", "")
    with pytest.raises(UsageError, match="unknown kind of target 'hnswlb': did you mean hnswlib"):
        kind_and_place("hnswlb:x.bin")


def test_a_part_that_is_not_installed(documents, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "faiss", None)
    with pytest.raises(MissingExtraError, match=r'pip install "leadline\[faiss\]"'):
        open_target("faiss", {}, documents, 16, "cosine")


def test_an_index_of_other_rows_or_metric_is_told(documents, queries):
    facts = type("F", (), {"rows": 1400, "dimensions": 16, "metric": "l2"})()
    told = check_facts(facts, documents, queries, "cosine", "index")
    assert told[0] == "the index holds 1400 vectors, docs 1500: one of them is older"
    assert told[1].startswith("the index compares by l2, the truth by cosine")
    assert check_facts(facts, documents, queries, "cosine", "index", unit=True) == told[:1]
