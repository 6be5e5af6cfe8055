"""Labels of words that golden models have."""

TAGS = ["O", "B-room", "I-room", "B-level", "I-level"]
FIVE_TAGS = dict(id2label=dict(enumerate(TAGS)))
