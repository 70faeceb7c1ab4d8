"""The notebook explore.ipynb, cell by cell: `make starter` makes it of this file.

A line `# %% name` begins a cell of code, `# %% name [markdown]` one of text; the name becomes the
cell's id. Editors that know this form (VS Code, Jupytext) run it as it is, from the folder
reference/. This docstring and what else stands before the first cell are left out.
"""
# ruff: noqa: E402, I001 - a notebook imports where it needs something

# %% intro [markdown]
# # Look at what your model does
#
# You have written a translator and trained it. Here you watch it work: what it says to sentences it
# has never seen, where it looks, which other translations it weighs, and where it fails. Everything
# runs on **your** five files and **your** `model.safetensors`. Nothing here is graded and nothing
# is handed in, so change whatever you like.
#
# **You need** the five tasks done (`python -m nmt check`) and a trained model
# (`python -m nmt train`). All cells together take well under a minute.
#
# **Run it** from top to bottom: *Run All* in VS Code, *Run → Run All Cells* in Jupyter. If you
# change one of your files, restart the kernel first (*Restart*), so that it is read again.
#
# **In Colab**, upload your folder as a zip file (the folder symbol on the left), then put a cell in
# front of this one with these two lines, and run it:
#
# ```
# !unzip -q -o starter.zip -d /content
# %cd /content/starter
# ```

# %% setup
import sys
from pathlib import Path

# Jupyter works in the folder of the notebook; VS Code may not, but names the notebook's file.
folder = Path(globals().get("__vsc_ipynb_file__", "explore.ipynb")).resolve().parent
if not (folder / "nmt" / "exploring.py").is_file():
    raise SystemExit(
        f"There is no folder nmt in {folder}. Put this notebook back beside it and open it there; "
        "or run in a cell before this one: %cd followed by the path of your folder."
    )
sys.path.insert(0, str(folder))

from nmt import exploring

model, english, zhoric, dev = exploring.start()  # says what is missing, if something is
parameters = sum(parameter.numel() for parameter in model.parameters())
print(f"Ready: {parameters:,} parameters, {len(dev)} sentence pairs in the dev set.")

# %% translate [markdown]
# ## 1. Translate
#
# **Look at** the order of the words: the verb comes last, adjectives follow their noun, the plural
# is a word of its own (`ka`), and no article is left.
#
# The last sentence has a word that the model does not know. It reads `<unk>` in its place.
#
# **Think about:** what does the model make of a word that it has never seen? Could any model with a
# fixed list of words do better? Write some sentences of your own; the words it knows are in
# `data/english.vocab`.

# %% translate-sentences
from nmt.translation import translate, unknown_words

sentences = [
    "the old cat sees a red house",
    "the old cats see the red houses",
    "an angry king follows the small wolves",
    "the children hear an owl in the tall forest near the river",
    "the old cat sees a red zebra",
]
for sentence, translation in zip(sentences, translate(model, english, zhoric, sentences)):
    unknown = unknown_words(english, sentence)
    print(sentence, f"   (unknown: {', '.join(unknown)})" if unknown else "")
    print(f"    {translation}\n")

# %% heatmap [markdown]
# ## 2. Where it looks
#
# A row is a word that the decoder writes, a column a word that it reads; the darker, the more
# attention. Each row sums to 1.
#
# **Look at** the rows of nouns and adjectives first: do they look at the words they translate? All
# of them, or are those in a phrase such as *in a city* different? Then look at the other rows: the
# postpositions, `ka`, the verb at the end, `</s>`.
#
# **Think about:** the dark cells do not lie on the diagonal. What would a model without attention
# have to keep in its one vector, to write the words in this order? And why can a row look at a word
# that is *not* its translation, and the translation still be right? (What has the encoder read by
# the time it is at that word, from the left and from the right?)

# %% heatmap-draw
from nmt.heatmap import heatmap
from nmt.settings import SearchConfig
from nmt.translation import translate_with_attention

for sentence in (
    "the old cat sees a red house",
    "the kings see the old cats in a city near the gardens",
):
    found = translate_with_attention(model, english, zhoric, sentence, SearchConfig())
    exploring.show(heatmap(found), f"Attention of “{sentence}”, translated {found.target}")

# %% tree [markdown]
# ## 3. What the beam search weighs
#
# First a toy: three words and a table of probabilities in the place of a model, with a beam of 2.
# On each edge stands the log-probability of the next word, in each box the sum so far, and below a
# result its score, the sum divided by the number of tokens.
#
# **Look at** the first step: `a` is likelier than `b`. A greedy search would follow it and end with
# `a`. The beam keeps `b`, too, and that wins, once the sums are divided by the lengths.
#
# **Think about:** with `alpha=0`, nothing is divided. Which result is the first then? Change it in
# the cell and see.

# %% tree-toy
from nmt.beam_tree import EXAMPLE, draw_tree, record_table

toy, letters = record_table(EXAMPLE, beam_size=2, alpha=1.0)
exploring.show(draw_tree(toy, letters), "The beam search over the table, as a tree")

# %% tree-model [markdown]
# All sums on the pictures are rounded to two places, so that the last digits need not add up.
#
# Now your model and your `beam_search`. The blue line is the translation it chose; white boxes were
# in the beam at that step, dotted ones are the best of those that were not.
#
# **Look at** the numbers on the blue line. Where they are 0.00, the model is certain. Where is it
# not, and what are the other words that it weighs there?
#
# **Think about:** compare the two trees. The second sentence has an unknown word in the place of
# the object. What does the model do at that place, how sure is it, and does it recover afterwards?

# %% tree-draw
from nmt.beam_tree import record_sentence

for sentence in ("the old cat sees a red house", "the old cat sees a red zebra"):
    tree = record_sentence(model, english, zhoric, sentence, SearchConfig(beam_size=3))
    exploring.show(draw_tree(tree, zhoric), f"The beam search of “{sentence}”, as a tree")

# %% plural [markdown]
# ## 4. Where does `ka` look?
#
# In English the plural is no word of its own: it is the *s* in *kings*, or all of *children*.
# Zhoric writes `ka` after the noun. So which English word does the decoder look at when it writes
# `ka`? Guess first. Then the cell counts, over 200 sentences of the dev set, which kind of word
# gets the most attention; and the same for the word just before `ka`, which is the noun.
#
# **Look at** the two colours: do the noun and its plural look at the same place?
#
# **Think about:** how can that word know whether the noun is plural? (The encoder runs in both
# directions.) What would change if the English words were cut into pieces, *king* and *s*, as in
# large translators?

# %% plural-count
import collections

counts = {
    "when it writes ka": collections.Counter[str](),
    "when it writes the noun before": collections.Counter[str](),
}
words_at_ka = collections.Counter[str]()
for pair in dev[:200]:
    found = translate_with_attention(
        model, english, zhoric, " ".join(pair.source), SearchConfig(beam_size=1)
    )
    looked_at = [found.source[place] for place in found.weights.argmax(dim=1).tolist()]
    for place, word in enumerate(found.target):
        if word == "ka":
            words_at_ka[looked_at[place]] += 1
            counts["when it writes ka"][exploring.kind_of(looked_at[place])] += 1
            if place > 0:
                noun = exploring.kind_of(looked_at[place - 1])
                counts["when it writes the noun before"][noun] += 1

kinds = [kind for kind in exploring.KINDS if any(count[kind] for count in counts.values())]
shares = {
    name: [count[kind] / max(1, sum(count.values())) for kind in kinds]
    for name, count in counts.items()
}
title = "The kind of English word with the most attention"
exploring.show(exploring.bars(shares, kinds, title), f"{title}: {shares}")
print(f"{sum(words_at_ka.values())} times ka; most often it looks at", words_at_ka.most_common(5))

# %% longer [markdown]
# ## 5. Longer than anything it has seen
#
# The training sentences have up to 3 prepositional phrases (*in a city*, *near the gardens*). What
# happens with 4? The cell takes the dev set's sentences with 0 to 3 phrases, up to 100 of each, and
# makes sentences with 4 by giving those with 3 one more phrase of another sentence.
#
# BLEU is your own `corpus_bleu`, from 0 to 1; the training prints it times 100. “Words” are those
# of the expected translation, in the mean. “Missing” is how many words fewer the model writes than
# expected; words too many are taken off, so that a wrong word for a right one counts nothing.
#
# **Look at** the step from 3 to 4: at BLEU, at the share of sentences that are right to the last
# word, and at the words that are missing. Then read the example below: what is left out?
#
# **Think about:** attention lets the decoder look at every word, however long the sentence is. Why
# is that not enough? What in the training has told the model when to write the verb and stop?

# %% longer-measure
from nmt.bleu import corpus_bleu
from nmt.corpus import Pair
from labs.sentences import lengthened, phrases

groups = [[pair for pair in dev if phrases(pair) == number][:100] for number in range(4)]
groups.append(lengthened(groups[3]))


def outputs(pairs: list[Pair], beam_size: int) -> list[list[str]]:
    """Translate the sources of pairs; return the words of each translation."""
    texts = [" ".join(pair.source) for pair in pairs]
    found = translate(model, english, zhoric, texts, beam_size=beam_size)
    return [translation.split() for translation in found]


print("phrases  words   BLEU  all right  words missing")
table = []
for number, pairs in enumerate(groups):
    results = outputs(pairs, beam_size=1)
    references = [pair.target for pair in pairs]
    bleu = corpus_bleu(results, [[reference] for reference in references]).score
    right = sum(map(list.__eq__, results, references)) / len(pairs)
    missing = sum(len(r) - len(o) for r, o in zip(references, results)) / len(pairs)
    words = sum(map(len, references)) / len(pairs)
    table.append((bleu, right, missing))
    print(f"{number:7} {words:6.1f} {bleu:6.3f} {right:10.0%} {missing:14.2f}")

# %% longer-draw
from matplotlib.figure import Figure

figure = Figure(figsize=(9, 3), layout="constrained")
for axes, values, title in zip(
    figure.subplots(1, 3), zip(*table), ("BLEU", "sentences all right", "words missing, on average")
):
    colours = ["#0072B2"] * 4 + ["#D55E00"]  # the last group is unlike any in the training
    drawn = axes.bar(range(5), values, color=colours)
    axes.bar_label(drawn, fmt="%.2f", padding=2, fontsize=9)
    axes.set(title=title, xlabel="prepositional phrases", ymargin=0.15)
    axes.spines[["top", "right"]].set_visible(False)
exploring.show(figure, f"BLEU, share of right sentences and missing words, 0 to 4 phrases: {table}")

pairs, results = groups[4], outputs(groups[4], beam_size=1)
worst = max(range(len(pairs)), key=lambda i: len(pairs[i].target) - len(results[i]))
print("English:  ", *pairs[worst].source)
print("expected: ", *pairs[worst].target)
print("written:  ", *results[worst])

# %% widths [markdown]
# ## 6. A wider beam
#
# The same sentences with beams of 1 (greedy), 3 and 5: a hundred of the dev set, and the long ones
# from above.
#
# **Look at** what a wider beam brings, and what it costs. Three hypotheses need not take three
# times as long, if `beam_search` runs them through the model together.
#
# **Think about:** where the model is nearly always certain (the tree above), what could a wider
# beam find? And on the long sentences, is it the search that fails, or the model?

# %% widths-measure
import time

for name, pairs in (("dev", dev[:100]), ("4 phrases", groups[4])):
    for beam_size in (1, 3, 5):
        started = time.perf_counter()
        results = outputs(pairs, beam_size)
        seconds = time.perf_counter() - started
        bleu = corpus_bleu(results, [[pair.target] for pair in pairs]).score
        print(f"{name:10} beam {beam_size}: BLEU {bleu:.3f}, {seconds:4.1f} seconds")

# %% further [markdown]
# ## 7. Go on
#
# - Draw the heatmap and the tree of the sentence from part 5 that lost a phrase. At which word does
#   the translation go wrong, and what did the search hold against it?
# - `translate(..., beam_size=3, alpha=0.0)` has no length normalisation. Does it lose more words
#   than `alpha=1.0` does with the same beam? (The table in part 5 is greedy: compare the two anew.)
# - Train with `python -m nmt train --epochs 1 --output early.safetensors`, load it with
#   `nmt.model.load_checkpoint("early.safetensors")`, and look at the same pictures: does attention
#   come early or late?
# - The labs (`python -m labs lab5`) measure more of this, on more sentences.
