"""What projects say of language models themselves; it wins over the built-in tables."""

from decimal import Decimal

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from sessions_app.domain.language_models import LONGEST_NAME, NAME_RULE, NO_FACTS, ModelFacts, is_legal_name
from sessions_app.domain.memory_settings import LARGEST_INTEGER
from sessions_app.models.fields import BytewiseCharField
from sessions_app.models.projects import Project

# So many that SQLite, which keeps floats, gives each price back as it was given.
PRICE_DIGITS = 12
PRICE_PLACES = 6


def validate_name(text: str) -> None:
    """Refuse a name that could not stand in an address."""
    if not is_legal_name(text):
        raise ValidationError(NAME_RULE)


class ModelOverrideQuerySet(models.QuerySet["ModelOverride"]):
    """Filters over overrides."""

    def facts_of(self, name: str) -> ModelFacts:
        """What is said of a model, among the overrides of one project."""
        row = self.filter(name=name).first()
        return NO_FACTS if row is None else row.to_value()


def price_field(help_text: str) -> "models.DecimalField[Decimal | None, Decimal | None]":
    """Return a column for a price, never negative; null where nothing is said."""
    return models.DecimalField(
        null=True,
        blank=True,
        max_digits=PRICE_DIGITS,
        decimal_places=PRICE_PLACES,
        validators=[MinValueValidator(0)],
        help_text=help_text,
    )


class ModelOverride(models.Model):
    """What a project says of one model; null leaves a value to the built-in tables."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="model_overrides")
    name = BytewiseCharField(
        max_length=LONGEST_NAME, validators=[validate_name], help_text="As it stands in the memory settings."
    )
    context_window = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(LARGEST_INTEGER)],
        help_text="In tokens, question and answer together.",
    )
    input_price = price_field("In USD per million tokens.")
    cached_input_price = price_field("Of tokens that come from the provider's cache, in USD per million.")
    output_price = price_field("In USD per million tokens.")

    objects = ModelOverrideQuerySet.as_manager()

    class Meta:
        ordering = ["project", "name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="model_override_once"),
            models.CheckConstraint(condition=Q(context_window__gte=1), name="model_override_window"),
            models.CheckConstraint(
                condition=Q(input_price__gte=0) & Q(cached_input_price__gte=0) & Q(output_price__gte=0),
                name="model_override_prices",
            ),
            models.CheckConstraint(
                condition=Q(context_window__isnull=False)
                | Q(input_price__isnull=False)
                | Q(cached_input_price__isnull=False)
                | Q(output_price__isnull=False),
                name="model_override_says_something",
                violation_error_message="Give at least one value.",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def to_value(self) -> ModelFacts:
        """Return what is said as a value."""
        return ModelFacts(self.context_window, self.input_price, self.cached_input_price, self.output_price)
