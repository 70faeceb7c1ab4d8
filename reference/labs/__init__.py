"""The lecture's experiments, run on the LSTM, attention, search and BLEU that you wrote."""
