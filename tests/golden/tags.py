"""Labels that golden models have."""

TAGS = ["O", "B-room", "I-room", "B-level", "I-level"]
INTENTS = ["on", "off", "dim"]
FIVE_TAGS = dict(id2label=dict(enumerate(TAGS)))


def classes(name):
    """The names of a family's classes in docs/recurrent.md and similar pages: for labels of words, of texts, of nothing, of both."""
    return (
        f"{name}ForTokenClassification",
        f"{name}ForSequenceClassification",
        f"{name}Model",
        f"Joint{name}ForIntentAndSlots",
    )


def labels_of(kind):
    """Settings that name the labels of a model of that class."""
    if kind.startswith("Joint"):
        return dict(intent_labels=INTENTS, slot_labels=TAGS)
    if kind.endswith("Model"):
        return {}
    labels = TAGS if kind.endswith("ForTokenClassification") else ["red", "green", "blue"]
    return dict(id2label={str(i): label for i, label in enumerate(labels)})
