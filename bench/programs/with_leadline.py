"""Six means of a run by Leadline's library."""

import sys

import leadline

scores = leadline.evaluate(
    sys.argv[1], sys.argv[2], "nDCG(gain=linear)@10,R@5,R@10,P@5,RR,AP", undefined="zero"
)
for measure in scores.measures:
    print(measure, repr(scores.mean(measure)))
