"""The data room: the Zhoric language, the generator of its corpora, and the corpora."""
