"""The values of a build's parameters, put into texts of a template's config."""

import re
from collections.abc import Mapping
from typing import Final

from chatd.workspaces.provisioner import BuildFailed

_PLACE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_-]*)\}")


def filled(text: str, parameters: Mapping[str, str]) -> str:
    """`${name}` becomes the value of that parameter. Raises BuildFailed for one that the build does not have."""

    def value(found: re.Match[str]) -> str:
        if found[1] not in parameters:
            raise BuildFailed(
                f"The template uses the parameter {found[1]}, which this build does not have.",
                detail="Add it to the template's parameters, or give it a value.",
                code="parameter_missing",
            )
        return parameters[found[1]]

    return _PLACE.sub(value, text)
