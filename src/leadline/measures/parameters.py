"""The parameters that several measures share."""

import numpy as np

from leadline.measure import Parameter

REL = Parameter("rel", 1, "the least grade that counts as relevant", "number", low=np.nextafter(0, 1))
GAIN = Parameter(
    "gain", "exp2", "exp2 is 2^g − 1, linear the grade, or a map of grades such as {1:3,2:9}", "gain"
)
GRADE_GAIN = Parameter("gain", "linear", "linear is the grade, exp2 is 2^g − 1, or a map of grades", "gain")
RBP_GAIN = Parameter(
    "gain", "binary", "binary, or exp2 / linear divided by the gain of the top grade", "unit gain"
)
MAX_GRADE = Parameter(
    "max_grade",
    None,
    "the top of the scale; left out: as declared, else the largest grade of the file",
    "number",
    low=0,
    high=50,
)
CONDENSED = Parameter("judged_only", False, "remove unjudged documents first (the condensed list)", "flag")
LEVELS = Parameter(
    "levels",
    "least",
    "how the level is found: least, floor (trec_eval 9) or round (10)",
    ("least", "floor", "round"),
)
PATIENCE = Parameter("p", 0.8, "the chance of looking at the next document", "number", low=0.0, high=1 - 1e-9)
OVER = Parameter("over", "returned", "divide by min(k, returned) or by k", ("returned", "k"))
BETA = Parameter("beta", 1, "how much recall weighs against precision (true beta)", "number", low=1e-9)
DENOMINATOR = Parameter(
    "denominator",
    "relevant",
    "divide by all relevant, min(R, k), or those retrieved",
    ("relevant", "min", "retrieved"),
)
VARIANT = Parameter(
    "variant",
    "trec_eval",
    "the denominator: trec_eval min(N, R), 2004 R, 10 R + 10",
    ("trec_eval", "2004", "10"),
)
OVERLAP_DEPTH = Parameter(
    "depth",
    None,
    "the rank to which both lists are followed; left out: to the end of the longer",
    "whole",
    1,
    1e6,
)
NORMALIZE = Parameter("normalize", True, "divide by the overlap of the ideal ranking with itself", "flag")
PERSISTENCE = Parameter("p", 0.95, "the persistence of the overlap", "number", low=0.0, high=1 - 1e-9)
