// Package unit has the words of derivation that the program beside it does not need: the claims that are read out of episodes, the slots that
// units are made from, entities, decisions, and what people ask and are told.
package unit
