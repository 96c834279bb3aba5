from command import Command


def test_the_demo_tells_the_difference_and_draws_it(hardmax: Command, tmp_path):
    outcome = hardmax("demo", "--output", tmp_path / "new" / "folder")
    assert outcome.code == 0
    assert "floats, ==: token 4 ends at a vertex, 1.00 from where it belongs." in outcome.out
    assert "certified: token 4 ends on the edge, where it belongs" in outcome.out
    picture = tmp_path / "new" / "folder" / "arithmetics.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert str(picture) in outcome.err
