"""Six means of a run by ir_measures, as its README has it."""

import sys

import ir_measures
from ir_measures import AP, RR, P, R, nDCG

qrels = ir_measures.read_trec_qrels(sys.argv[2])
run = ir_measures.read_trec_run(sys.argv[1])
means = ir_measures.calc_aggregate([nDCG @ 10, R @ 5, R @ 10, P @ 5, RR, AP], qrels, run)
for measure in (nDCG @ 10, R @ 5, R @ 10, P @ 5, RR, AP):
    print(measure, repr(float(means[measure])))
