"""Signatures with the encryption keys: made with the first, good with any, for one purpose each."""

from chatd.store.cipher import Cipher, EncryptionKey

OLD, NEW, OTHER = (EncryptionKey(letter * 32) for letter in (b"o", b"n", b"x"))


def test_a_signature_is_good_for_its_message_and_its_purpose_alone():
    cipher = Cipher([OLD])
    signature = cipher.sign("links", b"a file")

    assert cipher.is_signed("links", b"a file", signature)
    assert not cipher.is_signed("links", b"another file", signature)
    assert not cipher.is_signed("cookies", b"a file", signature)
    assert not cipher.is_signed("links\0a", b" file", cipher.sign("links", b"a\0 file"))
    assert not cipher.is_signed("links", b"a file", signature[:-1])
    assert not cipher.is_signed("links", b"a file", b"")


def test_replicas_whose_keys_are_being_rotated_trust_each_other_and_nobody_else():
    before, after = Cipher([OLD, NEW]), Cipher([NEW, OLD])

    assert after.is_signed("links", b"a", before.sign("links", b"a"))
    assert before.is_signed("links", b"a", after.sign("links", b"a"))
    assert not Cipher([NEW]).is_signed("links", b"a", before.sign("links", b"a"))
    assert not before.is_signed("links", b"a", Cipher([OTHER]).sign("links", b"a"))


def test_a_signature_says_nothing_of_the_key_and_is_no_ciphertext():
    assert OLD.sign("links", b"a") != NEW.sign("links", b"a")
    assert len(OLD.sign("links", b"a")) == 32
    assert "o" * 32 not in repr(OLD)
