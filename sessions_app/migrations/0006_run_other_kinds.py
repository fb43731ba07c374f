from django.db import migrations, models
from django.db.models import Exists, OuterRef


def note_other_kinds(apps, schema_editor):
    """Say of the runs that are there which hold notes and reasoning; later ones say it from the start."""
    runs, events = (apps.get_model("sessions_app", name).objects for name in ("Run", "Event"))
    noted, reasoned = (Exists(events.filter(run=OuterRef("pk"), kind=kind)) for kind in ("note", "reasoning"))
    runs.filter(noted).update(other_kinds="note")
    runs.filter(reasoned).update(other_kinds="reasoning")
    runs.filter(noted, reasoned).update(other_kinds="note reasoning")


class Migration(migrations.Migration):

    dependencies = [
        ("sessions_app", "0005_session_indexes"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="other_kinds",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Kinds of its events that are neither messages nor tool calls.",
                max_length=40,
            ),
            preserve_default=False,
        ),
        migrations.RunPython(note_other_kinds, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("status__in", ["failed", "cancelled"]), models.Q(("other_kinds", ""), _negated=True), _connector="OR"),
                fields=["session", "position"],
                name="run_peculiar",
            ),
        ),
    ]
