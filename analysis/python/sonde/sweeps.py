"""The findings of a sweep as an xarray Dataset."""
import json

import numpy as np

from .frames import findings, points
from .tables import opened, text_attributes


def sweep(run, metric="*"):
    """A sweep as an xarray Dataset: dimension `uuid` (the GPU) and one for each swept option.

    `metric` is a name or a pattern. Each numeric metric that was measured at more than one setting
    becomes a variable, and "<metric>_deviation" is its deviation. Both have the attribute `units`,
    as have swept options that are numbers. A metric has a dimension only for options that its job
    depends on, since sonde measures a job once if no option changes it. A metric that depends on no
    swept option is left out; `findings` has it.

    Points that differ only in seed or repeat are repeats of one setting. The value is the median of
    the repeats and the deviation their standard deviation. For a setting with one value the
    deviation is its `reproducibility`, which is the deviation between the replicates. A setting
    without a value is NaN. With `--sweep-mode zip` all swept options share one dimension,
    `setting`. Raises ValueError if no option was swept.
    """
    import xarray  # here, since the rest of the package works without it

    with opened(run) as file:
        said = text_attributes(file["provenance"])
        axes = {axis["option"].replace("-", "_"): axis for axis in json.loads(said["axes_json"])}
        if not axes:
            raise ValueError(f"{file.filename}: a run without a sweep (no option varies) "
                             "use sonde.findings, or measure with sonde run --sweep")
        table, settings = findings(file, metric), points(file)[list(axes)]
    data = xarray.Dataset(coords={"uuid": table["uuid"].unique()})
    if json.loads(said["config_json"])["sweep_mode"] == "zip":
        row = settings.drop_duplicates()
        data = data.assign_coords({"setting": np.arange(len(row)),
                                   **{name: ("setting", row[name].to_numpy()) for name in axes}})
        settings = settings.groupby(list(axes), sort=False).ngroup().to_frame("setting")
    else:  # texts keep the order of the sweep
        data = data.assign_coords({name: np.sort(settings[name].unique()) if axis["is_number"]
                                   else settings[name].unique() for name, axis in axes.items()})
    table["number"] = [value if isinstance(value, float) else np.nan for value in table["value"]]
    for name, rows in table.join(settings, on="point").groupby("metric", sort=False):
        along = [axis for axis in settings if rows[axis].nunique() > 1]
        rows = rows.dropna(subset=["number"])
        if not along or rows.empty:
            continue
        same = rows.groupby(["uuid", *along])
        deviation = same["number"].std().fillna(same["reproducibility"].median())
        for variable, values in ((name, same["number"].median()), (f"{name}_deviation", deviation)):
            data[variable] = values.to_xarray().assign_attrs(units=rows["unit"].iloc[0])
    for name, axis in axes.items():
        if axis["is_number"]:
            data[name].attrs["units"] = axis["unit"]
    return data
