(* What the main theorems depend on: `make proofs` fails unless each is closed under the global context. *)
Require Import Hardmax Leads Terms Soundness More.
Print Assumptions leader_for_ever.
Print Assumptions closed_form.
Print Assumptions rule_range.
Print Assumptions rule_tail.
Print Assumptions lead_terms.
Print Assumptions accepted_sound.
Print Assumptions certificate_sound.
Print Assumptions radius_sound.
