"""Corrects NLLB's experts in transformers 5 where it is imported: that sends every token through experts 0 and 1, because it takes masks
for numbers of experts. Version 4 and fairseq, whose model it is, send each token through the experts that have a share.
"""

import torch
from transformers.models.nllb_moe import modeling_nllb_moe


def through_chosen(self, hidden_states, router_mask, router_probs):
    made = torch.zeros_like(hidden_states)
    for number in range(self.num_experts):
        made = made + self[f"expert_{number}"](hidden_states) * router_probs[:, number, None]
    return made * (1 - max(self.moe_token_dropout, 0))


modeling_nllb_moe.NllbMoeExperts.forward = through_chosen
