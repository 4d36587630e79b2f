/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The wing's public header: from profiles to what changed, with proof.
 *
 *	model.h			two profiles as one tree and one list of functions, with evidence and a verdict
 *	gates.h			limits on growth (--fail-on)
 *	suite.h			two profiles of a suite, benchmark by benchmark
 *	file_pairs.h		which file of base is which of head
 *	function_units.h	what each unit of evidence has of each function
 *	groups.h		functions in groups that somebody asks about (--by)
 *	lines.h			the time of each line of a function
 *	neighbours.h		callers and callees
 *	question.h		a part of the samples that somebody asks about
 *	rates.h			requests over time
 *	waits.h			waits of threads by class, function, lock and who ended them
 *	listing/		functions line by line
 *	repository/		a git repository
 *	texts/			texts of functions that profiles do not have
 *	commits/		which commits touched what is proven to differ
 *	history/		profiles over time
 */
#include "diff/commits/commits.h"
#include "diff/file_pairs.h"
#include "diff/function_units.h"
#include "diff/gates.h"
#include "diff/groups.h"
#include "diff/history/history.h"
#include "diff/lines.h"
#include "diff/listing/listing.h"
#include "diff/model.h"
#include "diff/neighbours.h"
#include "diff/question.h"
#include "diff/rates.h"
#include "diff/repository/repository.h"
#include "diff/suite.h"
#include "diff/texts/texts.h"
#include "diff/waits.h"
