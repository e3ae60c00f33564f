"""The rows of the catalogue that are measures of passages."""

from functools import partial

from leadline.measure import Definition, Parameter
from leadline.passages import recall

REL = Parameter("rel", 1, "the least grade of evidence that counts", "number", low=1e-300)
WEIGHT = Parameter(
    "weight",
    "characters",
    "what is counted: characters, or tokens (words and signs, which needs the documents)",
    ("characters", "tokens"),
)
OfText = partial(
    Definition, cutoff="required", parameters=(REL, WEIGHT), ranked=False, bounds="none", needs="evidence"
)
"""A measure of ranges of text: it needs evidence and chunks."""

MEASURES: tuple[Definition, ...] = (
    OfText(
        "EvidenceRecall",
        "evidence recall",
        "Evidence that the top k cover together ÷ all evidence, in characters or tokens.",
        "chunking_evaluation (Smith & Troynikov 2024), with unions",
        recall.evidence_recall,
        "EvidenceRecall@5",
        differs="chunking_evaluation divides by the sum of the evidence's lengths, so that evidence marked twice cannot "
        "be found whole. RAG tools' 'context recall' asks a model about sentences of an answer, another measure.",
    ),
    OfText(
        "EvidencePrecision",
        "evidence precision",
        "Evidence that the top k cover together ÷ the text of the top k; 0 where nothing was returned.",
        "chunking_evaluation (Smith & Troynikov 2024), with unions",
        recall.evidence_precision,
        "EvidencePrecision@5",
        differs="chunking_evaluation divides by the sum of the chunks' lengths, so that chunks that overlap cost twice.",
    ),
    OfText(
        "EvidenceIoU",
        "intersection over union",
        "Evidence that the top k cover together ÷ all text that is evidence or stands in the top k.",
        "Jaccard 1912; chunking_evaluation (Smith & Troynikov 2024), with unions",
        recall.evidence_iou,
        "EvidenceIoU@5",
        differs="chunking_evaluation adds the lengths of chunks that overlap.",
    ),
)
