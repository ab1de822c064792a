"""A tree of another make: scikit-learn's mixtures over the texts of units, layer upon layer.

``python tests/memory/recursive_clusters.py CONVERSATION`` compares it with segviz's own.
"""

import sys

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.mixture import GaussianMixture

import segviz


def tree(texts: list[str]) -> list[dict[str, object]]:
    """Rows with id, text, parent and start: clusters of about five, until few are left."""
    rows: list[dict[str, object]] = [
        {"id": i, "text": text, "start": i, "parent": None} for i, text in enumerate(texts)
    ]
    layer = list(range(len(rows)))
    while len(layer) > 5:
        told = TfidfVectorizer().fit_transform([str(rows[i]["text"]) for i in layer])
        points = TruncatedSVD(min(8, told.shape[1] - 1), random_state=0).fit_transform(told)
        mixture = GaussianMixture(-(-len(layer) // 5), covariance_type="diag", random_state=0)
        labels = mixture.fit_predict(points)
        above = []
        for label in np.unique(labels).tolist():
            members = [i for i, mine in zip(layer, labels.tolist(), strict=True) if mine == label]
            text = " ".join(" ".join(str(rows[i]["text"]).split()[:12]) for i in members)
            for i in members:
                rows[i]["parent"] = len(rows)
            above.append(len(rows))
            rows.append({"id": len(rows), "text": text, "parent": None})
        layer = above
    return rows


if __name__ == "__main__":
    conversation = segviz.load(sys.argv[1])[0]
    ours = segviz.build(conversation)
    theirs = segviz.memory_from(
        tree([unit.text for unit in ours.units]), conversation=conversation, unit=ours.unit
    )
    for name, memory in {"segviz": ours, "scikit-learn": theirs}.items():
        found = segviz.evaluate(memory, conversation.questions)
        recall = found.outcomes.mean("recall")
        sys.stdout.write(f"{name}: {len(memory.structure)} nodes, recall@10 {recall}\n")
