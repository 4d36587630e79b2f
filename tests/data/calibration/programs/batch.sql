-- SPDX-License-Identifier: GPL-3.0-or-later
create table numbers as with recursive n(i) as (select 1 union all select i + 1 from n where i < 400000) select i, i * 7919 % 10007 as k, 'item ' || i as name from n;
create index by_k on numbers (k);
select count(*), sum(length(a.name)) from numbers a join numbers b on a.k = b.k and a.i < b.i where a.i < 60000;
select k % 13, avg(i), max(name) from numbers group by 1 order by 2 desc;
select count(*) from numbers where name like '%77%' or name glob '*1?3*';
select name from numbers order by substr(name, 7), k limit 3;
