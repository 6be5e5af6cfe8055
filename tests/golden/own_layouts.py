"""Directories of layouts that no library writes."""

import json


def write_halves(directory, config, model, bare=()):
    """config.json, and the model's tensors as f16, without the biases of modules that `bare` names parts of."""
    import safetensors.torch

    text = json.dumps(config, ensure_ascii=False, indent=1)
    (directory / "config.json").write_text(text + "\n", encoding="utf-8")
    tensors = {
        name: value.half().contiguous()
        for name, value in model.state_dict().items()
        if not (name.endswith(".bias") and any(part in name for part in bare))
    }
    safetensors.torch.save_file(tensors, directory / "model.safetensors")
