"""The machine's own clock."""

from convoweb.time_zone import of_machine


def test_it_reads_the_zone_that_the_clock_of_the_machine_is_linked_to(tmp_path):
    zone = tmp_path / "zoneinfo" / "Europe" / "Vienna"
    zone.parent.mkdir(parents=True)
    zone.touch()
    link = tmp_path / "localtime"
    link.symlink_to(zone)
    assert of_machine(link) == "Europe/Vienna"


def test_it_is_utc_where_nothing_tells(tmp_path):
    assert of_machine(tmp_path / "localtime") == "UTC"
