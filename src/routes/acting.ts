import { CheckInput, check, uncheck } from '../page/actions/check.ts';
import { ClickInput, ClickResult, click } from '../page/actions/click.ts';
import { FillInput, FillResult, fill } from '../page/actions/fill.ts';
import { PressInput, press } from '../page/actions/press.ts';
