"""Six means of a run by pytrec_eval, as its README has it."""

import sys

import pytrec_eval

with open(sys.argv[2]) as file:
    qrels = pytrec_eval.parse_qrel(file)
with open(sys.argv[1]) as file:
    run = pytrec_eval.parse_run(file)
evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "recall.5,10", "P.5", "recip_rank", "map"})
results = evaluator.evaluate(run)
for measure in ("ndcg_cut_10", "recall_5", "recall_10", "P_5", "recip_rank", "map"):
    print(measure, repr(sum(values[measure] for values in results.values()) / len(results)))
