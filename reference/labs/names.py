"""Name the labs. Nothing is imported here: wrong usage should be told at once."""

LABS = {
    "lab1": "vanishing and exploding gradients",
    "lab2": "LSTM and GRU",
    "lab3": "subject–verb agreement",
    "lab4": "seq2seq without attention, and BLEU by hand",
    "lab5": "attention",
    "lab6": "why scores are divided by √d",
}
