"""Hold the numbers that hold unless a command is told otherwise; this module needs no torch."""

from dataclasses import dataclass

from nmt.files import InputError

LARGEST = 4096  # a larger size is a mistake, and would only fill the memory


@dataclass(frozen=True)
class ModelConfig:
    """Hold the sizes that make a model; a checkpoint carries them with its weights."""

    source_size: int  # words of the source vocabulary, specials included
    target_size: int
    embedding_size: int = 64
    encoder_size: int = 128  # a direction
    decoder_size: int = 256
    attention: bool = True
    dropout: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what no model can be made of."""
        for name, value in vars(self).items():
            if name.endswith("_size") and not (type(value) is int and 1 <= value <= LARGEST):
                raise InputError(f"{name} must be a whole number in 1..{LARGEST}, got {value!r}")
        if type(self.attention) is not bool:
            raise InputError(f"attention must be true or false, got {self.attention!r}")
        if type(self.dropout) not in (int, float) or not 0 <= self.dropout < 1:
            raise InputError(f"dropout must be at least 0 and below 1, got {self.dropout!r}")


@dataclass(frozen=True)
class TrainingConfig:
    """Hold the settings of a training."""

    epochs: int = 2
    batch_size: int = 128
    max_learning_rate: float = 3e-3  # the peak of the one-cycle schedule
    clip_norm: float = 1.0
    seed: int = 1


@dataclass(frozen=True)
class SearchConfig:
    """Hold the settings of a beam search."""

    beam_size: int = 3
    max_length: int = 60  # tokens; the longest sentences of the data have fewer than 40
    alpha: float = 1.0  # strength of the length normalisation
