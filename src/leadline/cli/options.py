"""The options that several commands share, each said once."""

from typing import Annotated

import typer

Runs = Annotated[
    list[str],
    typer.Argument(metavar="RUN", help="Run files, - for standard input; NAME=PATH names a system."),
]
Qrels = Annotated[
    str | None,
    typer.Option(help="The judgments; may be left out where the rows carry their references."),
]
Measures = Annotated[
    list[str] | None,
    typer.Option("--measure", "-m", help="Measures, such as nDCG@10,R@5; `leadline measures` lists them."),
]
Cutoff = Annotated[
    int | None,
    typer.Option("--k", min=1, help="Cutoff of the default measures: what the next stage consumes."),
]
Queries = Annotated[
    list[str] | None,
    typer.Option(
        help="A file of queries (for --by, and ids where a file names queries by text), or which count: judged, intersection."
    ),
]
By = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Also one row for each value of this column of the queries."),
]
PerQuery = Annotated[bool, typer.Option("--per-query", help="Also every query's value.")]
Profile = Annotated[
    str | None,
    typer.Option(help="leadline-1, trec_eval-9, trec_eval-10, ir_measures, msmarco or beir."),
]
Format = Annotated[str | None, typer.Option(help="table, json, csv, md, latex or trec_eval.")]
Write = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE",
        help="Also write a file; its ending says the kind: .json .md .html .tex .csv .parquet .jsonl .txt",
    ),
]
Bounds = Annotated[
    bool | None,
    typer.Option(
        "--bounds/--no-bounds", help="Also the least and greatest mean that unjudged documents could give."
    ),
]
Ties = Annotated[
    str | None,
    typer.Option(help="docid, or expected: the expected value over random order of equal scores."),
]
Order = Annotated[str | None, typer.Option(help="What orders a run: score, rank or file.")]
Undefined = Annotated[str | None, typer.Option(help="Queries without relevant documents: skip or zero.")]
Depth = Annotated[int | None, typer.Option(min=1, help="Cut every run to this many documents first.")]
Duplicates = Annotated[str | None, typer.Option(help="A document twice for one query: error or first.")]
IgnoreSelf = Annotated[
    bool | None,
    typer.Option("--ignore-self/--no-ignore-self", help="Drop documents whose id is the query's."),
]
Collapse = Annotated[
    str | None,
    typer.Option(
        help="Chunks become their documents: first (the best chunk's place), max or sum (of their scores)."
    ),
]
CollapseSeparator = Annotated[
    str | None,
    typer.Option(metavar="TEXT", help="With --collapse: a chunk's document stands before its last TEXT."),
]
CollapseMapping = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="With --collapse: rows with chunk_id and document_id."),
]
CollapseUnmatched = Annotated[
    str | None,
    typer.Option(help="With --collapse: ids that name no document: error, or keep (counted)."),
]
Complete = Annotated[
    bool | None,
    typer.Option("--complete/--no-complete", help="Everything unlisted is declared not relevant."),
]
Conflicts = Annotated[
    str | None,
    typer.Option(help="A pair judged twice: error, first, last, max, min, mean or majority."),
]
GradeMap = Annotated[
    str | None, typer.Option(metavar="A=B,…", help="Rewrite grades, such as 1=4,2=3,3=2,4=1.")
]
MaxGrade = Annotated[
    float | None, typer.Option(help="The top of the grade scale (default: the largest in the file).")
]
Comments = Annotated[
    bool | None,
    typer.Option("--comments/--no-comments", help="Lines of TREC files that start with # are comments."),
]
IntervalKind = Annotated[
    str | None, typer.Option(help="auto (Student's t; Wilson for yes/no measures) or bootstrap.")
]
Seed = Annotated[int | None, typer.Option(help="Seed of the bootstrap.")]
InputFormat = Annotated[
    str | None,
    typer.Option(
        help="Format of the runs, where the content does not tell: trec, jsonl, csv, …, or another tool's, such as msmarco."
    ),
]
QrelsFormat = Annotated[
    str | None,
    typer.Option(
        help="Format of the judgments, where the content does not tell: as for runs, such as quepid or rank_eval."
    ),
]
Plugin = Annotated[
    list[str] | None, typer.Option(metavar="MODULE", help="Import a module that registers measures.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress bar, and no warnings on standard error.")
]
Margin = Annotated[
    float, typer.Option(min=0, help="How much worse would still do, in the measure's own units.")
]
Alpha = Annotated[float, typer.Option(help="1 − alpha is the level of the intervals.")]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Queries of one value are alike (one user, one document): CR2."),
]
Weight = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="With --by: each slice's weight in the traffic mix.")
]
Correction = Annotated[str, typer.Option(help="For several candidates: holm, bonferroni, tukey or none.")]
Nulls = Annotated[
    bool, typer.Option("--nulls", help="Also null systems (random order, the most returned documents).")
]
EvidenceFile = Annotated[
    str | None,
    typer.Option(
        "--evidence", metavar="FILE", help="Ranges of text that answer the queries, in place of --qrels."
    ),
]
ChunksFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--chunks",
        metavar="[NAME=]FILE",
        help="With --evidence: which text each returned id is; NAME= for one system. Default: whole documents.",
    ),
]
DocumentsPlace = Annotated[
    str | None,
    typer.Option(
        "--documents",
        metavar="PLACE",
        help="The texts of the documents, a folder or a file: of the evidence, or for rows with texts and no ids.",
    ),
]
Share = Annotated[
    float,
    typer.Option(
        "--share", help="With --evidence: how much of it a chunk must hold to have its grade (0 to 1)."
    ),
]
Compared = Annotated[
    list[str], typer.Argument(metavar="BASELINE CANDIDATE", help="Run files, the baseline first.")
]
IntervalOf = Annotated[
    str,
    typer.Option("--interval", help="auto, t, bootstrap, bca, studentised, tango or bonett-price."),
]
ComparedFormat = Annotated[str | None, typer.Option(help="table, json or md.")]
ComparedWrite = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE",
        help="Also write a file; its ending says the kind: .json .md .html .txt, or .jsonl: what to judge.",
    ),
]
Difference = Annotated[float, typer.Option(help="The difference worth having, in the measure's own units.")]
CertificateFile = Annotated[
    str | None,
    typer.Option(
        "--certificate",
        metavar="FILE",
        help="The judgments are a model's, and this is its certificate (as `leadline certify` writes it).",
    ),
]
ModelQrels = Annotated[
    str | None,
    typer.Option(
        "--ppi",
        metavar="MODEL-QRELS",
        help="A model's labels, of these queries and of more: prediction-powered intervals (PPI++).",
    ),
]
