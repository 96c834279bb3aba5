"""`verify` takes a certificate as data, as a file or as the limit that it is of."""

import json

import pytest

import hardmax as hm

LIM = hm.limit(hm.clouds.nonleader_clusters(), hm.Dynamics("1/2"), arithmetic="exact")


def test_a_limit_and_the_file_of_its_certificate_are_checked(tmp_path):
    path = tmp_path / "proof.json"
    LIM.certificate.save(path)
    assert hm.verify(LIM) == hm.verify(path) == hm.verify(str(path)) == hm.verify(LIM.certificate)
    assert hm.verify(path)
    path.write_text(json.dumps(LIM.certificate | {"settled_at": 7}))
    verdict = hm.verify(path)
    assert verdict.decided
    assert not verdict


@pytest.mark.parametrize("certificate", [None, 7, [LIM], LIM.run, b"{}", "nowhere.json", "data.json"])
def test_what_is_no_certificate_is_an_error_and_not_refused(certificate, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.json").write_text("[1, 2]")
    with pytest.raises(hm.InputError):
        hm.verify(certificate)


def test_a_limit_without_a_proof_has_nothing_to_be_checked():
    with pytest.raises(hm.InputError, match="no proof"):
        hm.verify(hm.limit([[1.0], [2.0]], hm.Dynamics(1), arithmetic="float"))
