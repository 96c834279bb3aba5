# pyright: reportMissingImports=false, reportArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportCallIssue=false
import pytest
from estimators.quick import THREE, TWO, HardmaxClassifier, quick


@pytest.fixture(scope="session")
def of_two() -> HardmaxClassifier:
    """A classifier of two classes, fitted once; nobody may change it."""
    return quick().fit(TWO.texts, TWO.labels)


@pytest.fixture(scope="session")
def of_three() -> HardmaxClassifier:
    """A classifier of three classes, fitted once; nobody may change it."""
    return quick().fit(THREE.texts, THREE.labels)
