# pyright: reportMissingImports=false, reportArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportCallIssue=false
import pytest
from estimators.quick import THREE, TWO, quick


@pytest.fixture(scope="session")
def of_two():
    """A classifier of two classes, fitted once; nobody may change it."""
    return quick().fit(TWO.texts, TWO.labels)


@pytest.fixture(scope="session")
def of_three():
    """A classifier of three classes, fitted once; nobody may change it."""
    return quick().fit(THREE.texts, THREE.labels)
